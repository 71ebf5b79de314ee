/* The law of addition on curve P-384, y^2 = x^3 - 3 x + b (SP 800-186 section 3.2.1.4).
 *
 * A point is x / z^2, y / z^3 of its coordinates (Jacobian), and infinity has z = 0. */
#ifndef WS_P384_LAW_H
#define WS_P384_LAW_H

#include "p384_field.h"

typedef struct {
    ws_p384_element x;
    ws_p384_element y;
    ws_p384_element z;
} ws_p384_point;

/* A sum of points: r, so far, and in t[1], t[2] the x and y of what is added next. */
typedef struct {
    ws_p384_point r;
    ws_p384_element t[3];
} ws_p384_sum;

/* sum->r = 2 sum->r. out: t[0], t[1]: destroyed. Right for every point. Constant time. A kernel
 * replaces p384_law.c, which is both functions. */
void ws_p384_point_double(ws_p384_sum *sum);

/* sum->r = sum->r + (t[1], t[2]), which is not infinity. out: t: destroyed. Constant time.
 *
 * Right unless sum->r is infinity or is the summand. Then z becomes 0, and where both were the same
 * point t[0] = 0, too; if they were opposite points, z = 0 is right and t[0] is not 0. */
void ws_p384_point_add(ws_p384_sum *sum);

#endif
