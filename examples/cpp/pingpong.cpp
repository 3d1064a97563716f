// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages to a peer and back, in C++.
 *
 *	cpp-pingpong		wait for a peer and answer it
 *	cpp-pingpong HOST	send it ten messages
 *
 * Objects are declared in the order of their making, and so are freed in the right one. The two
 * programs pingpong and cpp-pingpong speak with each other.
 */
#include <cstdio>
#include <kverbs.hpp>
#include <string>
#include <string_view>

namespace {

const std::string port = "7480";
constexpr std::size_t size = 4096;
constexpr int rounds = 10;

/* A string with its end, as pingpong has it. */
kv::piece put(const kv::region &region, const std::string &text)
{
	char *to = region.as<char>();

	to[text.copy(to, size - 1)] = '\0';
	return region.sub(0, text.size() + 1);
}

void answer(const kv::context &context)
{
	kv::region in = kv::region::allocate(context, size), out = kv::region::allocate(context, size);
	kv::listener listener(context, port);

	std::puts("listening");
	std::fflush(stdout);
	std::optional<kv::connection> conn = listener.next();
	/* A receive must be posted before its message arrives. */
	kv::request received = conn->recv(in);

	conn->accept();
	for (int i = 0; i < rounds; i++) {
		received.wait();
		const std::string text = std::string("pong to ") + in.as<char>();

		/* The next message may arrive as soon as the peer has this answer. */
		received = conn->recv(in);
		kv::request sent = conn->send(put(out, text));
		std::error_code code;

		/* The peer leaves after the last answer, perhaps before it has acknowledged it. */
		sent.wait(code);
		if (code && i != rounds - 1)
			throw std::system_error(code, "send");
	}
	/* The peer may still wait for the acknowledgment of its last message. */
	std::error_code end;

	received.wait(end);
}

void ask(const kv::context &context, const char *host)
{
	kv::region in = kv::region::allocate(context, size), out = kv::region::allocate(context, size);
	kv::connection conn(context, host, port);

	for (int i = 0; i < rounds; i++) {
		kv::request received = conn.recv(in);

		conn.send(put(out, "ping " + std::to_string(i))).wait();
		received.wait();
		std::puts(in.as<char>());
	}
}

} /* namespace */

int main(int argc, char **argv)
{
	try {
		kv::context context;

		if (argc > 1)
			ask(context, argv[1]);
		else
			answer(context);
	} catch (const std::system_error &e) {
		std::fprintf(stderr, "%s\n", e.what());
		return 1;
	}
	return 0;
}
