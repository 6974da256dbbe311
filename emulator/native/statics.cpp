// Objects of this library with static storage are never destroyed, and those of a thread only where the thread ends by
// itself. A program may leave by exit() on one thread while others launch, or while code is being made for them, and
// its own destructors may still call the runtime: exit() destroys the calling thread's objects before all others.

#include <pthread.h>

namespace {

// An object of a thread, in a list from the last made to the first.
struct ThreadObject {
    void (*destroy)(void *);
    void *object;
    ThreadObject *before;
};

// The C library calls it where a thread ends, and not at exit().
void destroy_all(void *last) {
    auto *it = static_cast<ThreadObject *>(last);
    while (it) {
        it->destroy(it->object);
        auto *before = it->before;
        delete it;
        it = before;
    }
}

pthread_key_t make_key() {
    pthread_key_t key = ~pthread_key_t{0};  // stays none where there are no more: then nothing is destroyed
    pthread_key_create(&key, destroy_all);
    return key;
}

}  // namespace

extern "C" {

// What the compiler calls to have such an object destroyed at the end; the ones of the C library and of the C++ library
// stay those of everybody else.
__attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void *), void *, void *) { return 0; }

__attribute__((visibility("hidden"))) int __cxa_thread_atexit(void (*destroy)(void *), void *object, void *) {
    static const pthread_key_t key = make_key();
    auto *before = static_cast<ThreadObject *>(pthread_getspecific(key));
    return pthread_setspecific(key, new ThreadObject{destroy, object, before});
}
}
