/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * libkverbs for C++17: objects that free what they own, and exceptions.
 *
 * The namespace is kv, since kverbs is a struct of the library. Objects can be moved, not copied.
 * They own a handle of the library, which get() returns, and have to be destroyed in an order in
 * which C would free them: exports before their connection, all before the context. Declared in
 * the order of their making they are.
 *
 * A function that fails throws kv::error, a std::system_error with the errno and the name of the
 * library's function. Those that take a std::error_code set it instead. Callbacks are called from
 * C and must not throw.
 *
 * A kv::request keeps what the library needs alive until the operation is complete, even if the
 * object is destroyed before. The memory that the operation moves is the caller's to keep. Code
 * for which an allocation for each operation is too much posts kverbs_op itself, with post().
 */
#ifndef KVERBS_HPP
#define KVERBS_HPP

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <kverbs.h>

namespace kv {

using std::chrono::milliseconds;

/* A time that never passes, and the default of functions that wait. */
constexpr milliseconds forever{-1};
/* The rest of a region. */
constexpr std::size_t npos = static_cast<std::size_t>(-1);

/* ---- errors ------------------------------------------------------------- */

/* code().value() is the errno; wc_status() is what the device said of a request, or 0. */
class error : public std::system_error {
public:
	error(int number, const char *function, unsigned int wc_status = 0)
		: std::system_error(number, std::generic_category(), text(function, wc_status)),
		  wc_status_(wc_status)
	{
	}

	unsigned int wc_status() const noexcept
	{
		return wc_status_;
	}

private:
	static std::string text(const char *function, unsigned int wc_status)
	{
		std::string text = function;

		if (wc_status)
			text += std::string(" (") + kverbs_wc_status_str(wc_status) + ")";
		return text;
	}

	unsigned int wc_status_;
};

namespace detail {

inline int check(int ret, const char *function)
{
	if (ret < 0)
		throw error(-ret, function);
	return ret;
}

inline int timeout_ms(milliseconds timeout)
{
	constexpr milliseconds::rep most = 0x7fffffff;

	if (timeout.count() < 0)
		return -1;
	return static_cast<int>(timeout.count() < most ? timeout.count() : most);
}

template <auto Free> struct deleter {
	template <class T> void operator()(T *p) const noexcept
	{
		/* What the library cannot free yet goes with the context. */
		(void)Free(p);
	}
};

template <class T, auto Free> using handle = std::unique_ptr<T, deleter<Free>>;

/* A container or array of plain data. */
template <class C> using element = std::remove_pointer_t<decltype(std::data(std::declval<C &>()))>;

} /* namespace detail */

inline const char *version() noexcept
{
	return kverbs_version();
}

/* ---- context ------------------------------------------------------------ */

/* Devices with their ports and GIDs. */
class device_list {
public:
	explicit device_list(struct kverbs *context)
		: number_(detail::check(kverbs_device_list(context, &list_), "kverbs_device_list"))
	{
	}

	device_list(device_list &&other) noexcept
		: list_(std::exchange(other.list_, nullptr)), number_(std::exchange(other.number_, 0))
	{
	}

	device_list &operator=(device_list &&other) noexcept
	{
		std::swap(list_, other.list_);
		std::swap(number_, other.number_);
		return *this;
	}

	~device_list()
	{
		kverbs_device_list_free(list_, number_);
	}

	const kverbs_device *begin() const noexcept
	{
		return list_;
	}

	const kverbs_device *end() const noexcept
	{
		return list_ + number_;
	}

	std::size_t size() const noexcept
	{
		return static_cast<std::size_t>(number_);
	}

private:
	kverbs_device *list_ = nullptr;
	int number_;
};

/* An open device node with its ring; or another ring of it, from worker(). */
class context {
public:
	context() : context(nullptr)
	{
	}

	explicit context(const kverbs_opts &opts) : context(&opts)
	{
	}

	struct kverbs *get() const noexcept
	{
		return handle_.get();
	}

	/* Another ring, with callbacks and waits of its own; destroy it before this. */
	context worker() const
	{
		return context(get(), nullptr);
	}

	context worker(const kverbs_opts &opts) const
	{
		return context(get(), &opts);
	}

	/* For poll(2): readable while completions are unread. */
	int fd() const noexcept
	{
		return kverbs_fd(get());
	}

	/* End all waits with EINTR, and let none begin until wakeup_clear(); for signal handlers, too. */
	void wakeup() const noexcept
	{
		kverbs_wakeup(get());
	}

	void wakeup_clear() const noexcept
	{
		kverbs_wakeup_clear(get());
	}

	/* Read completions and run callbacks; returns their number, 0 if the time is over. */
	unsigned int process(milliseconds timeout = milliseconds{0})
	{
		return static_cast<unsigned int>(
			detail::check(kverbs_process(get(), detail::timeout_ms(timeout)),
				      "kverbs_process"));
	}

	/*
	 * Take complete requests with KVERBS_QUEUE, which are the caller's as in C, from the
	 * queue; returns their number, 0 if the time is over.
	 */
	std::size_t poll(kverbs_req **reqs, std::size_t nr, milliseconds timeout = milliseconds{0})
	{
		return static_cast<std::size_t>(
			detail::check(kverbs_poll(get(), reqs, nr, detail::timeout_ms(timeout)),
				      "kverbs_poll"));
	}

	kverbs_cmd_info info() const
	{
		kverbs_cmd_info info;

		detail::check(kverbs_info(get(), &info, sizeof(info)), "kverbs_info");
		return info;
	}

	device_list devices() const
	{
		return device_list(get());
	}

private:
	explicit context(const kverbs_opts *opts)
	{
		struct kverbs *kv;

		detail::check(kverbs_open(&kv, opts), "kverbs_open");
		handle_.reset(kv);
	}

	context(struct kverbs *kv, const kverbs_opts *opts)
	{
		struct kverbs *worker;

		detail::check(kverbs_worker_open(kv, opts, &worker), "kverbs_worker_open");
		handle_.reset(worker);
	}

	detail::handle<struct kverbs, kverbs_close> handle_;
};

/* ---- memory ------------------------------------------------------------- */

/* A part of a region. */
struct piece {
	kverbs_buf *buf = nullptr;
	std::size_t offset = 0;
	std::size_t length = 0;

	void *data() const noexcept
	{
		return static_cast<char *>(kverbs_buf_addr(buf)) + offset;
	}
};

/* Registered memory. */
class region {
public:
	/* Register the caller's memory, which has to outlive the region. */
	region(const context &context, void *data, std::size_t size, unsigned int flags = 0)
	{
		kverbs_buf *buf;

		detail::check(kverbs_buf_register(context.get(), data, size, flags, &buf),
			      "kverbs_buf_register");
		handle_.reset(buf);
	}

	/* Memory that the device only reads. */
	region(const context &context, const void *data, std::size_t size)
		: region(context, const_cast<void *>(data), size, KVERBS_REGION_READ_ONLY)
	{
	}

	/*
	 * The elements of an array, std::array, std::vector, std::string or std::span, which must
	 * not move meanwhile: a vector must not grow.
	 */
	template <class C, class T = detail::element<C>,
		  class = std::enable_if_t<std::is_trivially_copyable_v<T>>>
	region(const context &context, C &container)
		: region(context, std::data(container), std::size(container) * sizeof(T))
	{
	}

	/* Page-aligned, zeroed memory of the library. */
	static region allocate(const context &context, std::size_t size)
	{
		kverbs_buf *buf;

		detail::check(kverbs_buf_alloc(context.get(), size, &buf), "kverbs_buf_alloc");
		return region(buf);
	}

	/* A part of a dma-buf, such as memory of a GPU; its data() is null. */
	static region of_dmabuf(const context &context, int fd, std::uint64_t offset,
				std::size_t size, unsigned int flags = 0)
	{
		kverbs_buf *buf;

		detail::check(kverbs_buf_register_dmabuf(context.get(), fd, offset, size, flags,
							 &buf),
			      "kverbs_buf_register_dmabuf");
		return region(buf);
	}

	/*
	 * The memory that a descriptor of share() refers to; @data: where this process has mapped
	 * it, if it has.
	 */
	static region import_fd(const context &context, int fd, void *data = nullptr,
				unsigned int flags = 0)
	{
		kverbs_buf *buf;

		detail::check(kverbs_buf_import(context.get(), fd, data, flags, &buf),
			      "kverbs_buf_import");
		return region(buf);
	}

	/* A descriptor of the memory for import_fd(), in this or another process; the caller closes it. */
	int share(unsigned int flags = 0) const
	{
		return detail::check(kverbs_buf_share(get(), flags), "kverbs_buf_share");
	}

	kverbs_buf *get() const noexcept
	{
		return handle_.get();
	}

	void *data() const noexcept
	{
		return kverbs_buf_addr(get());
	}

	template <class T> T *as() const noexcept
	{
		static_assert(std::is_trivially_copyable_v<T>);
		return static_cast<T *>(data());
	}

	std::size_t size() const noexcept
	{
		return kverbs_buf_size(get());
	}

	/* Whether memory registered with KVERBS_REGION_TRACK has changed. */
	bool stale() const noexcept
	{
		return kverbs_buf_stale(get());
	}

	/* A piece is checked when it is posted. */
	piece sub(std::size_t offset, std::size_t length = npos) const noexcept
	{
		return { get(), offset, length == npos ? size() - offset : length };
	}

	operator piece() const noexcept
	{
		return sub(0);
	}

	/* Free the region; unlike the destructor, it throws EBUSY while a request or an export uses it. */
	void close()
	{
		if (handle_)
			detail::check(kverbs_buf_free(get()), "kverbs_buf_free");
		handle_.release();
	}

private:
	explicit region(kverbs_buf *buf) : handle_(buf)
	{
	}

	detail::handle<kverbs_buf, kverbs_buf_free> handle_;
};

/* ---- requests ----------------------------------------------------------- */

/* Called once the request is complete; may post, but not wait, and must not throw. */
using done_fn = std::function<void(kverbs_req &)>;

/* An operation that was posted. */
class request {
public:
	bool complete() const noexcept
	{
		return kverbs_complete(&state_->req);
	}

	/* Wait until the request is complete; throws if it failed, ETIMEDOUT if it is not complete. */
	const kverbs_req &wait(milliseconds timeout = forever) const
	{
		int ret = result(timeout);

		if (ret)
			throw error(-ret, "request", complete() ? state_->req.wc_status : 0);
		return state_->req;
	}

	const kverbs_req &wait(std::error_code &code, milliseconds timeout = forever) const noexcept
	{
		code.assign(-result(timeout), std::generic_category());
		return state_->req;
	}

	/* The result, with the bytes that were moved, flags and immediate data. */
	const kverbs_req &get() const noexcept
	{
		return state_->req;
	}

private:
	friend class connection_ref;
	friend std::optional<std::size_t> wait_any(const std::vector<request> &requests,
						   milliseconds timeout);

	struct state {
		kverbs_req req{};
		done_fn done;
		std::atomic<unsigned int> refs{ 1 };
		std::atomic<bool> ended{ false };
	};

	struct put {
		void operator()(state *s) const noexcept
		{
			if (s->refs.fetch_sub(1, std::memory_order_acq_rel) == 1)
				delete s;
		}
	};

	explicit request(done_fn done) : state_(new state)
	{
		state_->req.done = completed;
		state_->req.data = state_.get();
		state_->done = std::move(done);
	}

	static void completed(kverbs_req *req) noexcept
	{
		state *s = static_cast<state *>(req->data);

		if (s->done)
			s->done(*req);
		s->ended.store(true, std::memory_order_release);
		put{}(s);
	}

	/* The library's reference, until completed(). */
	kverbs_req *begin() noexcept
	{
		state_->refs.fetch_add(1, std::memory_order_relaxed);
		return &state_->req;
	}

	void abort() noexcept
	{
		put{}(state_.get());
	}

	/* A request that has ended may outlive the context, which kverbs_wait() uses. */
	int result(milliseconds timeout) const noexcept
	{
		if (state_->ended.load(std::memory_order_acquire))
			return state_->req.result;
		return kverbs_wait(&state_->req, detail::timeout_ms(timeout));
	}

	std::unique_ptr<state, put> state_;
};

/*
 * Wait until one of several requests of one context is complete; returns the index of the first
 * one that is, none if the time is over. Its wait() throws if it failed.
 */
inline std::optional<std::size_t> wait_any(const std::vector<request> &requests,
					   milliseconds timeout = forever)
{
	std::vector<kverbs_req *> reqs;
	int ret;

	for (const request &r : requests) {
		/* The library may be gone. */
		if (r.state_->ended.load(std::memory_order_acquire))
			return reqs.size();
		reqs.push_back(&r.state_->req);
	}
	ret = kverbs_wait_any(reqs.data(), reqs.size(), detail::timeout_ms(timeout));
	if (ret == -ETIMEDOUT)
		return std::nullopt;
	return static_cast<std::size_t>(detail::check(ret, "kverbs_wait_any"));
}

/* ---- tokens --------------------------------------------------------------- */

/* Remote access to a peer's memory, unpacked from what the peer has sent. */
class token {
public:
	token(const void *data, std::size_t size)
	{
		detail::check(kverbs_token_unpack(&token_, data, size), "kverbs_token_unpack");
	}

	token(token &&other) noexcept : token_(std::exchange(other.token_, kverbs_token{}))
	{
	}

	token &operator=(token &&other) noexcept
	{
		std::swap(token_, other.token_);
		return *this;
	}

	~token()
	{
		kverbs_token_free(&token_);
	}

	const kverbs_token &get() const noexcept
	{
		return token_;
	}

	std::uint64_t length() const noexcept
	{
		return token_.length;
	}

private:
	kverbs_token token_{};
};

/* ---- connections ---------------------------------------------------------- */

/* Connections on which the same keys are valid. */
class group {
public:
	group(const context &context, std::uint32_t device_index)
	{
		kverbs_group *handle;

		detail::check(kverbs_group_create(context.get(), device_index, &handle),
			      "kverbs_group_create");
		handle_.reset(handle);
	}

	kverbs_group *get() const noexcept
	{
		return handle_.get();
	}

private:
	detail::handle<kverbs_group, kverbs_group_free> handle_;
};

/* Receive buffers that connections share. */
class pool {
public:
	explicit pool(const context &context, unsigned int entries = 0)
	{
		kverbs_pool *handle;

		detail::check(kverbs_pool_create(context.get(), entries, &handle),
			      "kverbs_pool_create");
		handle_.reset(handle);
	}

	/*
	 * Add a buffer. The request is the caller's, as in C, because those of buffers that are
	 * still in the pool never complete.
	 */
	void add(const piece &piece, kverbs_req &req)
	{
		detail::check(kverbs_pool_add(get(), piece.buf, piece.offset, piece.length, &req),
			      "kverbs_pool_add");
	}

	kverbs_pool *get() const noexcept
	{
		return handle_.get();
	}

private:
	detail::handle<kverbs_pool, kverbs_pool_destroy> handle_;
};

class connection_ref;

/*
 * Options of connecting and accepting.
 * @worker: accepting: where the connection belongs, if not to the listener's context
 * @prepare: posts the receives that the peer may fill as soon as it has accepted; may throw
 */
struct conn_options {
	kverbs_conn_param param{};
	std::string source;
	std::string priv;
	milliseconds timeout{ 10000 };
	const kv::group *group = nullptr;
	const kv::pool *pool = nullptr;
	const kv::context *worker = nullptr;
	std::function<void(connection_ref)> prepare;
};

/* A connection that another object owns: the argument of a callback. */
class connection_ref {
public:
	explicit connection_ref(kverbs_conn *conn) noexcept : conn_(conn)
	{
	}

	kverbs_conn *get() const noexcept
	{
		return conn_;
	}

	void wait(milliseconds timeout = forever) const
	{
		detail::check(kverbs_conn_wait(conn_, detail::timeout_ms(timeout)),
			      "kverbs_conn_wait");
	}

	void disconnect() const
	{
		detail::check(kverbs_disconnect(conn_), "kverbs_disconnect");
	}

	/* Wait until all operations but receives are complete, and end the connection. */
	void shutdown(milliseconds timeout = forever) const
	{
		detail::check(kverbs_shutdown(conn_, detail::timeout_ms(timeout)),
			      "kverbs_shutdown");
	}

	/* Why the connection ended; false while it has not. */
	std::error_code ended() const noexcept
	{
		return { -kverbs_conn_error(conn_), std::generic_category() };
	}

	kverbs_cmd_conn_query query() const
	{
		kverbs_cmd_conn_query query;

		detail::check(kverbs_conn_query(conn_, &query, sizeof(query)),
			      "kverbs_conn_query");
		return query;
	}

	/* The peer's private data, which the CM may have padded with zeroes. */
	std::string priv() const
	{
		std::string priv(512, '\0');

		priv.resize(static_cast<std::size_t>(
			detail::check(kverbs_conn_priv(conn_, priv.data(), priv.size()),
				      "kverbs_conn_priv")));
		return priv;
	}

	request send(const piece &piece, done_fn done = {}) const
	{
		return post(local(KVERBS_OP_SEND, piece), std::move(done));
	}

	request send_imm(const piece &piece, std::uint32_t imm, done_fn done = {}) const
	{
		kverbs_op op = local(KVERBS_OP_SEND_IMM, piece);

		op.imm = imm;
		return post(op, std::move(done));
	}

	request send_inv(const piece &piece, std::uint32_t rkey, done_fn done = {}) const
	{
		kverbs_op op = local(KVERBS_OP_SEND_INV, piece);

		op.rkey = rkey;
		return post(op, std::move(done));
	}

	/* One message from several pieces. */
	request send(const std::vector<piece> &pieces, done_fn done = {}) const
	{
		return post_list(local(KVERBS_OP_SEND, {}), pieces, std::move(done));
	}

	/* A message of KVERBS_COPY_MAX bytes at most, from memory that is no region. */
	request send_copy(std::string_view data, done_fn done = {}) const
	{
		return send_copy(data.data(), data.size(), std::move(done));
	}

	request send_copy(const void *data, std::size_t size, done_fn done = {}) const
	{
		request req(std::move(done));

		started(req, kverbs_send_copy(conn_, data, size, req.begin()), "kverbs_send_copy");
		return req;
	}

	request recv(const piece &piece, done_fn done = {}) const
	{
		return post(local(KVERBS_OP_RECV, piece), std::move(done));
	}

	request recv(const std::vector<piece> &pieces, done_fn done = {}) const
	{
		return post_list(local(KVERBS_OP_RECV, {}), pieces, std::move(done));
	}

	request write(const piece &piece, const token &token, std::uint64_t remote_offset = 0,
		      done_fn done = {}) const
	{
		return post(remote(KVERBS_OP_WRITE, piece, token, remote_offset), std::move(done));
	}

	request write(const std::vector<piece> &pieces, const token &token,
		      std::uint64_t remote_offset = 0, done_fn done = {}) const
	{
		return post_list(remote(KVERBS_OP_WRITE, {}, token, remote_offset), pieces,
				 std::move(done));
	}

	request write_imm(const piece &piece, const token &token, std::uint64_t remote_offset,
			  std::uint32_t imm, done_fn done = {}) const
	{
		kverbs_op op = remote(KVERBS_OP_WRITE_IMM, piece, token, remote_offset);

		op.imm = imm;
		return post(op, std::move(done));
	}

	request read(const piece &piece, const token &token, std::uint64_t remote_offset = 0,
		     done_fn done = {}) const
	{
		return post(remote(KVERBS_OP_READ, piece, token, remote_offset), std::move(done));
	}

	request read(const std::vector<piece> &pieces, const token &token,
		     std::uint64_t remote_offset = 0, done_fn done = {}) const
	{
		return post_list(remote(KVERBS_OP_READ, {}, token, remote_offset), pieces,
				 std::move(done));
	}

	request fetch_add(const piece &piece, const token &token, std::uint64_t remote_offset,
			  std::uint64_t add, done_fn done = {}) const
	{
		kverbs_op op = remote(KVERBS_OP_FETCH_ADD, piece, token, remote_offset);

		op.operand = add;
		return post(op, std::move(done));
	}

	request cmp_swap(const piece &piece, const token &token, std::uint64_t remote_offset,
			 std::uint64_t expected, std::uint64_t desired, done_fn done = {}) const
	{
		kverbs_op op = remote(KVERBS_OP_CMP_SWAP, piece, token, remote_offset);

		op.operand = expected;
		op.swap = desired;
		return post(op, std::move(done));
	}

	/* Any operation, even one with a list; its request is the returned one. */
	request post(kverbs_op op, done_fn done = {}) const
	{
		request req(std::move(done));

		op.req = req.begin();
		started(req, kverbs_post(conn_, &op, 1), "kverbs_post");
		return req;
	}

	/* The same without waiting for room: nothing is returned if there is none. */
	std::optional<request> try_post(kverbs_op op, done_fn done = {}) const
	{
		request req(std::move(done));
		int ret;

		op.req = req.begin();
		ret = kverbs_try_post(conn_, &op, 1);
		if (ret == -EAGAIN) {
			req.abort();
			return std::nullopt;
		}
		started(req, ret, "kverbs_try_post");
		return req;
	}

	/* Several operations with requests of the caller; returns how many were posted. */
	std::size_t post(const kverbs_op *ops, std::size_t nr) const
	{
		return static_cast<std::size_t>(
			detail::check(kverbs_post(conn_, ops, nr), "kverbs_post"));
	}

	static kverbs_op local(kverbs_opcode opcode, const piece &piece) noexcept
	{
		kverbs_op op{};

		op.opcode = opcode;
		op.buf = piece.buf;
		op.offset = piece.offset;
		op.length = piece.length;
		return op;
	}

	static kverbs_op remote(kverbs_opcode opcode, const piece &piece, const token &token,
				std::uint64_t remote_offset) noexcept
	{
		kverbs_op op = local(opcode, piece);

		op.token = &token.get();
		op.remote_offset = remote_offset;
		return op;
	}

private:
	static void started(request &req, int ret, const char *function)
	{
		if (ret >= 0)
			return;
		req.abort();
		throw error(-ret, function);
	}

	request post_list(kverbs_op op, const std::vector<piece> &pieces, done_fn done) const
	{
		std::vector<kverbs_vec> vec;

		/* An operation without pieces would be one without bytes. */
		if (pieces.empty())
			throw error(EINVAL, "kverbs_post");
		for (const piece &p : pieces)
			vec.push_back({ p.buf, p.offset, p.length });
		op.vec = vec.data();
		op.nr_vec = vec.size();
		return post(op, std::move(done));
	}

	kverbs_conn *conn_;
};

namespace detail {

/* The library's options, and what its callbacks need. */
class conn_opts {
public:
	explicit conn_opts(const conn_options &options) : options_(options)
	{
		opts_.sz = sizeof(opts_);
		opts_.param = &options.param;
		opts_.param_sz = sizeof(options.param);
		opts_.source = options.source.empty() ? nullptr : options.source.c_str();
		opts_.priv = options.priv.data();
		opts_.priv_len = options.priv.size();
		/* 0 is the library's default. */
		opts_.timeout_ms = timeout_ms(options.timeout);
		if (!opts_.timeout_ms)
			opts_.timeout_ms = 1;
		opts_.group = options.group ? options.group->get() : nullptr;
		opts_.pool = options.pool ? options.pool->get() : nullptr;
		opts_.worker = options.worker ? options.worker->get() : nullptr;
		opts_.arg = this;
		if (options.prepare)
			opts_.prepare = prepare;
	}

	conn_opts(const conn_opts &) = delete;
	conn_opts &operator=(const conn_opts &) = delete;

	const kverbs_conn_opts *get() const noexcept
	{
		return &opts_;
	}

	/* Throws what prepare() has thrown, or the library's error. */
	void check(int ret, const char *function) const
	{
		if (ret && thrown_)
			std::rethrow_exception(thrown_);
		detail::check(ret, function);
	}

private:
	static int prepare(kverbs_conn *conn, void *arg) noexcept
	{
		conn_opts *self = static_cast<conn_opts *>(arg);

		try {
			self->options_.prepare(connection_ref(conn));
			return 0;
		} catch (const error &e) {
			/* The peer has refused by then: the library knows the reason. */
			if (e.code().value() == ENOTCONN)
				return -ENOTCONN;
			self->thrown_ = std::current_exception();
		} catch (...) {
			self->thrown_ = std::current_exception();
		}
		return -EIO;
	}

	const conn_options &options_;
	kverbs_conn_opts opts_{};
	std::exception_ptr thrown_;
};

} /* namespace detail */

/* A connection; the destructor ends it, and its requests complete with ECANCELED before. */
class connection : public connection_ref {
public:
	connection(const context &context, const std::string &host, const std::string &port,
		   const conn_options &options = {})
		: connection(connect(context, host, port, options))
	{
	}

	connection(connection &&other) noexcept
		: connection_ref(other), handle_(std::move(other.handle_))
	{
	}

	connection &operator=(connection &&other) noexcept
	{
		connection_ref::operator=(other);
		handle_ = std::move(other.handle_);
		return *this;
	}

	/* Accept a peer's request, of listener::next(), and wait until it is established. */
	void accept(const conn_options &options = {})
	{
		detail::conn_opts opts(options);

		opts.check(kverbs_accept(get(), opts.get()), "kverbs_accept");
	}

	/* The same without waiting. */
	void accept_start(const conn_options &options = {})
	{
		detail::conn_opts opts(options);

		opts.check(kverbs_accept_start(get(), opts.get()), "kverbs_accept_start");
	}

	/* Reject a peer's request; the object is of no use any more. */
	void reject(std::string_view priv = {})
	{
		detail::check(kverbs_reject(handle_.release(), priv.data(), priv.size()),
			      "kverbs_reject");
	}

private:
	friend class listener;

	explicit connection(kverbs_conn *conn) noexcept : connection_ref(conn), handle_(conn)
	{
	}

	static kverbs_conn *connect(const context &context, const std::string &host,
				    const std::string &port, const conn_options &options)
	{
		detail::conn_opts opts(options);
		kverbs_conn *conn;

		opts.check(kverbs_connect(context.get(), host.c_str(), port.c_str(), opts.get(),
					  &conn), "kverbs_connect");
		return conn;
	}

	detail::handle<kverbs_conn, kverbs_conn_free> handle_;
};

class listener {
public:
	/* An empty host is any, port "0" a free one. */
	explicit listener(const context &context, const std::string &port = "0",
			  const std::string &host = {}, unsigned int backlog = 0)
	{
		kverbs_listener *handle;

		detail::check(kverbs_listen(context.get(), host.empty() ? nullptr : host.c_str(),
					    port.c_str(), backlog, &handle), "kverbs_listen");
		handle_.reset(handle);
	}

	std::uint16_t port() const noexcept
	{
		return kverbs_listener_port(get());
	}

	/* Wait for a peer's request, to be accepted or rejected; none if the time is over. */
	std::optional<connection> next(milliseconds timeout = forever)
	{
		kverbs_conn *conn;
		int ret = kverbs_next_request(get(), detail::timeout_ms(timeout), &conn);

		if (ret == -ETIMEDOUT)
			return std::nullopt;
		detail::check(ret, "kverbs_next_request");
		return connection(conn);
	}

	kverbs_listener *get() const noexcept
	{
		return handle_.get();
	}

private:
	detail::handle<kverbs_listener, kverbs_listener_free> handle_;
};

/* ---- exports ---------------------------------------------------------------- */

/*
 * Access to memory that this side grants: on a connection to its peer, on a group to the peers of
 * all its connections. The destructor revokes it.
 */
class grant {
public:
	grant(const connection_ref &conn, const piece &piece, unsigned int access)
		: conn_(conn.get())
	{
		detail::check(kverbs_export(conn_, piece.buf, piece.offset, piece.length, access,
					    &token_), "kverbs_export");
	}

	grant(const group &group, const piece &piece, unsigned int access) : group_(group.get())
	{
		detail::check(kverbs_group_export(group_, piece.buf, piece.offset, piece.length,
						  access, &token_), "kverbs_group_export");
	}

	grant(grant &&other) noexcept
		: conn_(std::exchange(other.conn_, nullptr)),
		  group_(std::exchange(other.group_, nullptr)),
		  token_(std::exchange(other.token_, kverbs_token{}))
	{
	}

	grant &operator=(grant &&other) noexcept
	{
		std::swap(conn_, other.conn_);
		std::swap(group_, other.group_);
		std::swap(token_, other.token_);
		return *this;
	}

	~grant()
	{
		if (conn_)
			kverbs_unexport(conn_, &token_);
		else if (group_)
			kverbs_group_unexport(group_, &token_);
	}

	/* Write the token for the peer into memory; returns the bytes of it. */
	std::size_t pack(void *data, std::size_t size) const
	{
		return static_cast<std::size_t>(
			detail::check(kverbs_token_pack(&token_, data, size),
				      "kverbs_token_pack"));
	}

	std::size_t packed_size() const noexcept
	{
		return kverbs_token_packed_size(&token_);
	}

	const kverbs_token &get() const noexcept
	{
		return token_;
	}

private:
	kverbs_conn *conn_ = nullptr;
	kverbs_group *group_ = nullptr;
	kverbs_token token_{};
};

} /* namespace kv */

#endif /* KVERBS_HPP */
