// expected: the function takes a const TextBatch&
#include "shoal/query/text_query.h"

void use(const shoal::TextQuery& query) {
    query.for_each_batch([](const shoal::TextBatch&, int) {});
}
