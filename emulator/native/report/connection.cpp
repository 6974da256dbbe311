#include "report/connection.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "api/errors.h"
#include "report/descriptors.h"
#include "report/report.h"
#include "report/wire.h"

namespace emu {

namespace {

// Never destroyed: a thread may still make code when the process ends.
std::string &server_socket = *new std::string;

}  // namespace

int failed(cudaError_t error, const std::string &reason) {
    failure_reason() = reason;
    return error;
}

void Connection::set_path(const std::string &socket_path) { server_socket = socket_path; }

Connection::~Connection() {
    if (socket_ >= 0) close(socket_);
}

bool Connection::open() {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (server_socket.size() >= sizeof address.sun_path) return false;
    std::memcpy(address.sun_path, server_socket.data(), server_socket.size());
    socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return false;
    socket_ = out_of_the_way(socket_);
    return connect(socket_, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0;
}

int Connection::ask(Question question, const std::string &content, std::string *answer) {
    std::lock_guard lock(mutex_);
    int32_t code = 0;
    // Some programs close descriptors that are not theirs: then there is another connection to be had.
    bool answered =
        exchange(question, content, &code, answer) || (open() && exchange(question, content, &code, answer));
    if (!answered) return failed(cudaErrorInitializationError, "`python -m emulator` is gone");
    if (!code) return cudaSuccess;
    std::string reason, unsupported;
    Reader{*answer}(reason, unsupported);
    if (!unsupported.empty()) report().set_unsupported(unsupported);
    return failed(static_cast<cudaError_t>(code), reason);
}

bool Connection::exchange(Question question, const std::string &content, int32_t *code, std::string *answer) {
    uint32_t size = static_cast<uint32_t>(content.size());
    if (!send_all(Writer()(question, size).bytes) || !send_all(content)) return false;
    if (!receive(code, sizeof *code) || !receive(&size, sizeof size)) return false;
    answer->resize(size);
    return receive(answer->data(), size);
}

bool Connection::send_all(std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
}

bool Connection::receive(void *to, size_t size) {
    char *at = static_cast<char *>(to);
    while (size) {
        ssize_t got = recv(socket_, at, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        size -= static_cast<size_t>(got);
    }
    return true;
}

}  // namespace emu
