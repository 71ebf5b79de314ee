/* The law of addition on curve secp160r1, y^2 = x^3 - 3 x + b (SEC 2 version 1, section 2.4.2).
 *
 * A point is x / z^2, y / z^3 of its coordinates (Jacobian), and infinity has z = 0. */
#ifndef WS_SECP160R1_LAW_H
#define WS_SECP160R1_LAW_H

#include "secp160r1_field.h"

typedef struct {
    ws_secp160r1_element x;
    ws_secp160r1_element y;
    ws_secp160r1_element z;
} ws_secp160r1_point;

/* A sum of points: r, so far, and in t[1], t[2] the x and y of what is added next. */
typedef struct {
    ws_secp160r1_point r;
    ws_secp160r1_element t[3];
} ws_secp160r1_sum;

/* sum->r = 2 sum->r. out: t[0], t[1]: destroyed. Right for every point. Constant time. A kernel
 * replaces secp160r1_law.c, which is both functions. */
void ws_secp160r1_point_double(ws_secp160r1_sum *sum);

/* sum->r = sum->r + (t[1], t[2]), which is not infinity. out: t: destroyed. Constant time.
 *
 * Right unless sum->r is infinity or is the summand. Then z becomes 0, and where both were the same
 * point t[0] = 0, too; if they were opposite points, z = 0 is right and t[0] is not 0. */
void ws_secp160r1_point_add(ws_secp160r1_sum *sum);

#endif
