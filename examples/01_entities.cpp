// An entity is a 32-bit number, or a 64-bit number in a build with wide ids. It is a weak reference: you can always
// check whether the entity is alive.
#include <shoal/entity/entity_manager.h>

#include <cstdio>
#include <vector>

int main() {
    shoal::EntityManager entities;

    // Entities are usually created in bulk, by passing a span.
    std::vector<shoal::Entity> herring(1000);
    if (auto status = entities.create(herring); !status) {
        std::printf("%.*s\n", static_cast<int>(status.message().size()), status.message().data());
        return 1;
    }
    const auto whale = entities.create();
    if (!whale) return 1;
    std::printf("%d living\n", static_cast<int>(entities.num_alive()));

    // With any copy of the id, you can see immediately that the entity is dead.
    const shoal::Entity remembered = herring[3];
    entities.destroy(std::span(herring).subspan(0, 500));
    std::printf("herring 3 %s, herring 700 %s, the whale %s\n", entities.alive(remembered) ? "lives" : "is dead",
                entities.alive(herring[700]) ? "lives" : "is dead", entities.alive(*whale) ? "lives" : "is dead");

    // Destroying a dead entity has no effect, but the attempt is counted. The same is true for null and foreign ids.
    const auto num_destroyed = entities.destroy(herring);
    std::printf("%u more destroyed, %d ignored\n", num_destroyed, static_cast<int>(entities.num_ignored_destroys()));
    std::printf("null %s\n", entities.alive(shoal::kNullEntity) ? "lives" : "is dead");
}
