/* Decisions that one fault does not turn: two results of computations of their own, each of which
 * has to be there. A value that neither is, such as of memory that was not written, is a refusal.
 *
 * With WS_SMALL (compiler.h) there is one result. Constant time: no. RAM: two bytes of the
 * caller's. */
#ifndef WS_DECISION_H
#define WS_DECISION_H

#include "compiler.h"

#include <stdint.h>

/* Values of the two that are far from each other, from their refusals and from 0 in bits. */
#define WS_DECISION_FIRST 0x5a
#define WS_DECISION_SECOND 0xc3
#define WS_DECISION_REFUSED 0x99

#if WS_SMALL

/* No room for the second one: it is there with the first. */
typedef struct {
    uint8_t first;
    uint8_t second;
} ws_decision;

#define WS_DECISION_AGAIN(check) 1

WS_INLINE void ws_decision_begin(ws_decision *decision)
{
    decision->first = WS_DECISION_REFUSED;
}

WS_INLINE int ws_decision_result(const ws_decision *decision)
{
    return decision->first == WS_DECISION_FIRST ? 0 : -1;
}

#else

/* The two results. volatile keeps the compiler from taking one for the other. */
typedef struct {
    volatile uint8_t first;
    volatile uint8_t second;
} ws_decision;

/* The check that the second one comes of. */
#define WS_DECISION_AGAIN(check) (check)

/* Begins with two refusals. out: decision. */
void ws_decision_begin(ws_decision *decision);

/* Returns 0 where both results are there, else -1. A call that is left out leaves its argument
 * where the result would be, which is no 0: so it is a function, and not inlined. */
int ws_decision_result(const ws_decision *decision);

#endif

#endif
