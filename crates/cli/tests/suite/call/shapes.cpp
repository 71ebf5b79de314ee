// C++ as a user brings it.
#include <stdint.h>

namespace shapes {

struct Box {
    int16_t width, height;
};

template <class T> static T product(T width, T height)
{
    return width * height;
}

int32_t area(const Box &box)
{
    return product<int32_t>(box.width, box.height);
}

Box turned(Box box)
{
    return Box{box.height, box.width};
}

} // namespace shapes
