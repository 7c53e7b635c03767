// expected: the function takes an `auto&&` batch, or Commands& and a batch
#include "components.h"
#include "shoal/database/database.h"

void use(Database& database) {
    query<Write<&Body::mass>>(database).for_each_batch([](auto&& batch, float) { batch.num_rows(); });
}
