#include "decision.h"

#if WS_SMALL

typedef char ws_decision_is_inline;

#else

void ws_decision_begin(ws_decision *decision)
{
    decision->first = WS_DECISION_REFUSED;
    decision->second = WS_DECISION_REFUSED;
}

int ws_decision_result(const ws_decision *decision)
{
    if (decision->first == WS_DECISION_FIRST) {
        if (decision->second == WS_DECISION_SECOND) {
            return 0;
        }
    }
    return -1;
}

#endif
