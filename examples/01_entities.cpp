// An entity is a number. It is a weak reference: asking whether it lives is always allowed.
#include <shoal/entity/entity_manager.h>

#include <cstdio>
#include <vector>

int main() {
    shoal::EntityManager entities;

    // Where there is one, there are many: the span is the real operation.
    std::vector<shoal::Entity> herring(1000);
    if (auto status = entities.create(herring); !status) {
        std::printf("%.*s\n", static_cast<int>(status.message().size()), status.message().data());
        return 1;
    }
    const auto whale = entities.create();
    if (!whale) return 1;
    std::printf("%d living, %zu bytes each\n", static_cast<int>(entities.num_alive()), sizeof(shoal::Entity));

    // Death is known at once, wherever the id is kept.
    const shoal::Entity remembered = herring[3];
    entities.destroy(std::span(herring).subspan(0, 500));
    std::printf("herring 3 %s, herring 700 %s, the whale %s\n", entities.alive(remembered) ? "lives" : "is dead",
                entities.alive(herring[700]) ? "lives" : "is dead", entities.alive(*whale) ? "lives" : "is dead");

    // Destroying the dead does nothing, and is counted. Null and foreign ids are no different.
    const auto num_destroyed = entities.destroy(herring);
    std::printf("%u more destroyed, %d ignored\n", num_destroyed, static_cast<int>(entities.num_ignored_destroys()));
    std::printf("null %s\n", entities.alive(shoal::kNullEntity) ? "lives" : "is dead");
}
