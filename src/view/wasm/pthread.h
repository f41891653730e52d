/* pthread.h - in place of the system's: a page's reader has one thread. */
#ifndef RFN_VIEW_WASM_PTHREAD_H
#define RFN_VIEW_WASM_PTHREAD_H

typedef int pthread_mutex_t;
#define PTHREAD_MUTEX_INITIALIZER             0
#define pthread_mutex_init(mutex, attributes) ((void)(mutex), 0)
#define pthread_mutex_destroy(mutex)          ((void)(mutex))
#define pthread_mutex_lock(mutex)             ((void)(mutex))
#define pthread_mutex_unlock(mutex)           ((void)(mutex))

#endif
