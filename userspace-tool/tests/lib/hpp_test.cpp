// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The C++ header: what an object owns is freed, and failures are exceptions. */
#include <array>
#include <cstdio>
#include <cstring>
#include <kverbs.hpp>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
#include "fake_kernel.h"
}

#define HOST "192.0.2.1"
#define PORT "7472"
#define WC_REM_ACCESS_ERR 10

namespace {

struct failure {
};

#define expect(cond)								\
	do {									\
		if (!(cond)) {							\
			std::printf("#   %s:%d: %s\n", __FILE__, __LINE__, #cond);	\
			throw failure{};					\
		}								\
	} while (0)

/* Check that a call fails with an errno; returns the exception. */
template <class F> kv::error fails(int number, F call)
{
	try {
		call();
	} catch (const kv::error &e) {
		if (e.code().value() != number)
			std::printf("#   %s, not errno %d\n", e.what(), number);
		expect(e.code().value() == number);
		expect(e.code().category() == std::generic_category());
		return e;
	}
	std::printf("#   no exception, not errno %d\n", number);
	throw failure{};
}

/* Two contexts and a connection between them. */
struct pair {
	kv::context server, client;
	kv::listener listener{ server, PORT, HOST };
	std::optional<kv::connection> there, here;

	explicit pair(const kv::conn_options &accept = {})
	{
		std::thread thread([this] { here.emplace(client, HOST, PORT); });

		there = listener.next();
		there->accept(accept);
		thread.join();
	}
};

void what_is_created_is_freed()
{
	kv::context context;
	kv::region region = kv::region::allocate(context, 100);
	kv::listener listener(context);
	kv::pool pool(context, 4);
	kv::group group(context, 1);

	expect(fake_leftovers() > 0);
	expect(listener.port());
	expect(region.size() == 100);
}

void a_failure_is_an_exception_with_errno_and_text()
{
	fake_fail(FAKE_OPEN, 1, -ENOENT);
	kv::error e = fails(ENOENT, [] { kv::context context; });

	expect(std::strstr(e.what(), "kverbs_open"));
	expect(e.code() == std::errc::no_such_file_or_directory);
	expect(!e.wc_status());
}

void a_region_is_shared_by_a_descriptor()
{
	kv::context context, other;
	kv::region region = kv::region::allocate(context, 100);
	int fd = region.share(KVERBS_REGION_READ_ONLY);

	fails(EACCES, [&] { kv::region::import_fd(other, fd); });
	kv::region again = kv::region::import_fd(other, fd, region.data(), KVERBS_REGION_READ_ONLY);
	close(fd);
	expect(again.size() == 100 && again.data() == region.data());
	fails(EBADF, [&] { kv::region::import_fd(other, -1); });
}

void a_region_is_a_part_of_a_dmabuf()
{
	kv::context context;
	kv::region region = kv::region::of_dmabuf(context, FAKE_DMABUF_FD, 10, 20);

	expect(region.size() == 20 && !region.data());
	fails(EINVAL, [&] { kv::region::of_dmabuf(context, FAKE_DMABUF_FD, FAKE_DMABUF_SIZE, 1); });
}

void objects_can_be_moved()
{
	kv::context first;
	kv::context context = std::move(first);
	kv::region region = kv::region::allocate(context, 100);
	kv::region other = std::move(region);

	expect(!first.get() && context.get());
	expect(!region.get() && other.size() == 100);
	other = kv::region::allocate(context, 200);
	expect(other.size() == 200);
	static_assert(!std::is_copy_constructible_v<kv::context>);
	static_assert(!std::is_copy_constructible_v<kv::connection>);
	static_assert(!std::is_copy_constructible_v<kv::request>);
	static_assert(std::is_nothrow_move_constructible_v<kv::connection>);
	static_assert(std::is_nothrow_move_constructible_v<kv::request>);
}

void containers_are_registered_where_they_are()
{
	std::vector<std::uint64_t> vector(10);
	std::array<char, 5> array{};
	const std::string text = "text";
	char bytes[7] = "";
	kv::context context;
	kv::region a(context, vector), b(context, array), c(context, text), d(context, bytes);

	expect(a.data() == vector.data() && a.size() == 80);
	expect(b.size() == 5);
	expect(c.data() == text.data() && c.size() == 4);
	expect(d.as<char>() == bytes && d.size() == 7);
}

void a_message_arrives_and_its_request_tells_the_length()
{
	pair p;
	kv::region sink = kv::region::allocate(p.server, 100);
	std::string text = "hello";
	kv::region source(p.client, text);
	kv::request received = p.there->recv(sink.sub(10));

	p.here->send(source).wait();
	expect(received.wait().byte_len == 5);
	expect(received.complete());
	expect(!std::memcmp(sink.as<char>() + 10, "hello", 5));
}

void several_pieces_are_one_message()
{
	pair p;
	kv::region sink = kv::region::allocate(p.server, 100);
	std::string text = "abcdef";
	kv::region source(p.client, text);
	kv::request received = p.there->recv({ sink.sub(50, 1), sink.sub(0, 10) });

	p.here->send({ source.sub(4), source.sub(0, 2) }).wait();
	expect(received.wait().byte_len == 4);
	expect(*(sink.as<char>() + 50) == 'e');
	expect(!std::memcmp(sink.data(), "fab", 3));
}

void pieces_are_written_and_read()
{
	pair p;
	kv::region owned = kv::region::allocate(p.server, 100);
	std::string text = "abcdef", back = "------";
	kv::region source(p.client, text), sink(p.client, back);
	kv::grant grant(*p.there, owned, KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE);
	std::vector<char> bytes(grant.packed_size());

	grant.pack(bytes.data(), bytes.size());
	kv::token token(bytes.data(), bytes.size());

	p.here->write({ source.sub(4), source.sub(0, 2) }, token, 10).wait();
	expect(!std::memcmp(owned.as<char>() + 10, "efab", 4));
	p.here->read({ sink.sub(5, 1), sink.sub(0, 2) }, token, 10).wait();
	expect(back == "fa---e");
}

void a_message_needs_no_region()
{
	pair p;
	kv::region sink = kv::region::allocate(p.server, 100);
	kv::request first = p.there->recv(sink.sub(0, 50)), second = p.there->recv(sink.sub(50));
	const int number = 7;

	p.here->send_copy("hello").wait();
	p.here->send_copy(&number, sizeof(number)).wait();
	expect(first.wait().byte_len == 5 && !std::memcmp(sink.data(), "hello", 5));
	expect(second.wait().byte_len == sizeof(number));
	fails(EMSGSIZE, [&] { p.here->send_copy(std::string(KVERBS_COPY_MAX + 1, 'x')); });
}

void any_of_several_requests_is_waited_for()
{
	pair p;
	kv::region sink = kv::region::allocate(p.server, 100);
	std::vector<kv::request> received;

	received.push_back(p.there->recv(sink.sub(0, 50)));
	received.push_back(p.there->recv(sink.sub(50)));
	expect(!kv::wait_any(received, kv::milliseconds(0)));
	p.here->send_copy("first").wait();
	expect(kv::wait_any(received).value() == 0);
	received.erase(received.begin());
	expect(!kv::wait_any(received, kv::milliseconds(0)));
	p.here->send_copy("second").wait();
	expect(kv::wait_any(received).value() == 0);
	fails(EINVAL, [] { kv::wait_any({}); });
}

void requests_come_from_the_queue()
{
	kverbs_req request{}, *taken[2];
	pair p;
	kv::region sink = kv::region::allocate(p.server, 100);
	kverbs_op op = kv::connection::local(KVERBS_OP_RECV, sink);

	request.done = KVERBS_QUEUE;
	op.req = &request;
	expect(p.there->post(&op, 1) == 1);
	expect(!p.server.poll(taken, 2));
	p.here->send_copy("hello").wait();
	expect(p.server.poll(taken, 2, kv::forever) == 1);
	expect(taken[0] == &request && request.byte_len == 5);
}

void a_connection_is_shut_down()
{
	pair p;
	kv::region sink = kv::region::allocate(p.server, 100);
	kv::request received = p.there->recv(sink);

	p.here->send_copy("hello");
	p.here->shutdown();
	expect(received.wait().byte_len == 5);
	expect(p.here->ended() == std::errc::operation_canceled);
	fails(ECONNRESET, [&] { p.there->shutdown(); });
}

void memory_of_a_peer_is_written_and_read()
{
	pair p;
	std::vector<char> memory(20000), back(10000), data(10000);
	std::vector<char> bytes;

	for (std::size_t i = 0; i < data.size(); i++)
		data[i] = static_cast<char>(i * 7);
	fake.max_segment = 3000;
	kv::region owned(p.server, memory), source(p.client, data), sink(p.client, back);
	kv::grant grant(*p.there, owned, KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE);

	bytes.resize(grant.packed_size());
	grant.pack(bytes.data(), bytes.size());
	kv::token token(bytes.data(), bytes.size());

	expect(token.length() == memory.size());
	p.here->write(source, token, 5000).wait();
	expect(!std::memcmp(&memory[5000], data.data(), data.size()));
	p.here->read(sink, token, 5000).wait();
	expect(back == data);
	fails(ERANGE, [&] { p.here->read(sink, token, 10001); });
	fails(EACCES, [&] { p.here->fetch_add(sink, token, 0, 1); });
}

void a_destroyed_grant_gives_no_access()
{
	pair p;
	kv::region owned = kv::region::allocate(p.server, 100);
	kv::region source = kv::region::allocate(p.client, 100);
	std::optional<kv::grant> grant(std::in_place, *p.there, owned, KVERBS_REMOTE_WRITE);
	std::vector<char> bytes(grant->packed_size());

	grant->pack(bytes.data(), bytes.size());
	kv::token token(bytes.data(), bytes.size());

	fails(EBUSY, [&] { owned.close(); });
	grant.reset();
	owned.close();
	kv::request request = p.here->write(source, token);
	kv::error e = fails(EIO, [&] { request.wait(); });

	expect(e.wc_status() == WC_REM_ACCESS_ERR);
	expect(std::strstr(e.what(), "remote access error"));
}

void atomics_and_immediate_data_work()
{
	pair p;
	kv::region owned = kv::region::allocate(p.server, 16);
	kv::region previous = kv::region::allocate(p.client, 8);
	kv::grant grant(*p.there, owned, KVERBS_REMOTE_ATOMIC | KVERBS_REMOTE_WRITE);
	std::vector<char> bytes(grant.packed_size());

	grant.pack(bytes.data(), bytes.size());
	kv::token token(bytes.data(), bytes.size());

	p.here->fetch_add(previous, token, 8, 5).wait();
	p.here->cmp_swap(previous, token, 8, 5, 9).wait();
	expect(*previous.as<std::uint64_t>() == 5);
	expect(owned.as<std::uint64_t>()[1] == 9);
	kv::region other = kv::region::allocate(p.server, 8);
	kv::request received = p.there->recv(other);

	p.here->write_imm(previous, token, 0, 77).wait();
	expect(received.wait().imm == 77);
}

void a_timeout_is_no_end()
{
	pair p;
	kv::region sink = kv::region::allocate(p.server, 100);
	kv::region source = kv::region::allocate(p.client, 3);
	kv::request received = p.there->recv(sink);
	std::error_code code;

	fails(ETIMEDOUT, [&] { received.wait(kv::milliseconds(0)); });
	received.wait(code, kv::milliseconds(1));
	expect(code == std::errc::timed_out);
	expect(!p.listener.next(kv::milliseconds(0)));
	p.here->send(source);
	received.wait(code);
	expect(!code && received.get().byte_len == 3);
}

void a_callback_runs_though_its_request_object_is_gone()
{
	unsigned int called = 0;
	pair p;
	kv::region sink = kv::region::allocate(p.server, 100);
	kv::region source = kv::region::allocate(p.client, 3);

	p.there->recv(sink, [&](kverbs_req &req) { called += static_cast<unsigned int>(req.byte_len); });
	p.here->send(source).wait();
	while (!called)
		p.server.process(kv::forever);
	expect(called == 3);
}

void a_request_may_outlive_its_context()
{
	std::optional<kv::request> received;

	{
		pair p;
		kv::region sink = kv::region::allocate(p.server, 100);

		received = p.there->recv(sink);
	}
	expect(received->complete());
	fails(ECANCELED, [&] { received->wait(); });
}

void a_refused_operation_leaves_nothing()
{
	pair p;
	kv::region region = kv::region::allocate(p.server, 100);

	fails(EINVAL, [&] { p.there->recv(kv::piece{ region.get(), 100, 1 }); });
	fails(EINVAL, [&] { p.there->recv(std::vector<kv::piece>{}); });
}

void without_room_trying_returns_nothing()
{
	kverbs_opts opts{};
	unsigned int posted = 0;

	fake.loopback = false;
	opts.sz = sizeof(opts);
	opts.sq_entries = 8;
	opts.cq_entries = 8;
	kv::context context(opts);
	kv::region region = kv::region::allocate(context, 8);
	kv::connection conn(context, HOST, PORT);

	while (conn.try_post(kv::connection::local(KVERBS_OP_SEND, region)))
		posted++;
	expect(posted > 0 && posted <= 8);
}

void receives_are_posted_before_the_peer_accepts()
{
	kv::context server, client;
	kv::listener listener(server, PORT, HOST);
	kv::region sink = kv::region::allocate(client, 100), source = kv::region::allocate(server, 5);
	std::optional<kv::request> received;
	kv::conn_options options;

	options.priv = "question";
	options.prepare = [&](kv::connection_ref conn) { received = conn.recv(sink); };
	std::optional<kv::connection> there;
	std::string priv;
	std::thread thread([&] {
		there = listener.next();
		priv = there->priv();
		there->accept();
		there->send(source).wait();
	});
	kv::connection here(client, HOST, PORT, options);

	thread.join();
	expect(priv.substr(0, 8) == "question");
	expect(received->wait().byte_len == 5);
}

void what_prepare_throws_ends_the_attempt()
{
	kv::context server, client;
	kv::listener listener(server, PORT, HOST);
	kv::conn_options options;
	bool caught = false;

	options.prepare = [](kv::connection_ref) { throw std::string("mine"); };
	try {
		kv::connection here(client, HOST, PORT, options);
	} catch (const std::string &) {
		caught = true;
	}
	expect(caught);
}

void a_refusal_is_an_exception()
{
	kv::context server, client;
	kv::listener listener(server, PORT, HOST);
	std::thread thread([&] { listener.next()->reject("no"); });

	fails(ECONNREFUSED, [&] { kv::connection here(client, HOST, PORT); });
	thread.join();
}

void a_pool_feeds_its_connections()
{
	kverbs_req requests[4] = {};
	kv::context server, client;
	kv::region memory = kv::region::allocate(server, 400);
	kv::region source = kv::region::allocate(client, 7);
	kv::pool pool(server, 4);

	for (std::size_t i = 0; i < 4; i++)
		pool.add(memory.sub(i * 100, 100), requests[i]);
	fails(EAGAIN, [&] { pool.add(memory, requests[0]); });
	kv::listener listener(server, PORT, HOST);
	std::optional<kv::connection> there, here;
	std::thread thread([&] { here.emplace(client, HOST, PORT); });
	kv::conn_options options;

	options.pool = &pool;
	there = listener.next();
	there->accept(options);
	thread.join();
	here->send(source).wait();
	expect(!kverbs_wait(&requests[0], -1));
	expect(requests[0].byte_len == 7);
	expect(kverbs_req_conn(&requests[0]) == there->get());
}

void a_worker_serves_connections_of_its_contexts_listener()
{
	kverbs_req request{};
	kv::context server, client;
	kv::context worker = server.worker();
	kv::region memory = kv::region::allocate(server, 100);
	kv::region source = kv::region::allocate(client, 7);
	kv::pool pool(worker, 4);
	kv::listener listener(server, PORT, HOST);
	std::optional<kv::connection> there, here;
	std::thread thread([&] { here.emplace(client, HOST, PORT); });
	kv::conn_options options;

	pool.add(memory, request);
	options.worker = &worker;
	options.pool = &pool;
	there = listener.next();
	there->accept(options);
	thread.join();
	here->send(source).wait();
	expect(!server.process());
	expect(!kverbs_wait(&request, -1));
	expect(worker.fd() != server.fd());
}

void a_wakeup_ends_waits()
{
	kv::context context;

	context.wakeup();
	fails(EINTR, [&] { context.process(kv::forever); });
	context.wakeup_clear();
	expect(!context.process());
}

void devices_can_be_walked()
{
	unsigned int ports = 0;

	fake_add_device(3, "mlx5_0", 2, 5);
	fake_add_device(4, "rxe0", 1, 1);
	kv::context context;
	kv::device_list devices = context.devices();

	for (const kverbs_device &device : devices)
		ports += device.nr_ports;
	expect(devices.size() == 2 && ports == 3);
	expect(context.info().out_abi == KVERBS_ABI_VERSION);
}

const struct {
	const char *name;
	void (*run)();
} tests[] = {
#define entry(name) { #name, name }
	entry(what_is_created_is_freed),
	entry(a_failure_is_an_exception_with_errno_and_text),
	entry(a_region_is_shared_by_a_descriptor),
	entry(a_region_is_a_part_of_a_dmabuf),
	entry(objects_can_be_moved),
	entry(containers_are_registered_where_they_are),
	entry(a_message_arrives_and_its_request_tells_the_length),
	entry(several_pieces_are_one_message),
	entry(pieces_are_written_and_read),
	entry(a_message_needs_no_region),
	entry(any_of_several_requests_is_waited_for),
	entry(requests_come_from_the_queue),
	entry(a_connection_is_shut_down),
	entry(memory_of_a_peer_is_written_and_read),
	entry(a_destroyed_grant_gives_no_access),
	entry(atomics_and_immediate_data_work),
	entry(a_timeout_is_no_end),
	entry(a_callback_runs_though_its_request_object_is_gone),
	entry(a_request_may_outlive_its_context),
	entry(a_refused_operation_leaves_nothing),
	entry(without_room_trying_returns_nothing),
	entry(receives_are_posted_before_the_peer_accepts),
	entry(what_prepare_throws_ends_the_attempt),
	entry(a_refusal_is_an_exception),
	entry(a_pool_feeds_its_connections),
	entry(a_worker_serves_connections_of_its_contexts_listener),
	entry(a_wakeup_ends_waits),
	entry(devices_can_be_walked),
};

bool run(void (*test)())
{
	fake_reset();
	fake.loopback = true;
	try {
		test();
	} catch (const failure &) {
		return false;
	} catch (const std::exception &e) {
		std::printf("#   %s\n", e.what());
		return false;
	}
	if (fake_leftovers())
		std::printf("#   %u objects are left\n", fake_leftovers());
	return !fake_leftovers();
}

} /* namespace */

int main()
{
	unsigned int number = 0, failed = 0;

	std::printf("1..%zu\n", std::size(tests));
	for (const auto &test : tests) {
		bool ok = run(test.run);

		failed += !ok;
		std::printf("%sok %u - %s\n", ok ? "" : "not ", ++number, test.name);
		/* The next test would abort over what is left. */
		if (fake_leftovers())
			break;
	}
	return failed ? 1 : 0;
}
