// Settings that the page keeps in the browser across reloads. Without storage (a private window), nothing is kept.

const kPrefix = "shoal.";

export function recalled(key, otherwise) {
    try {
        const text = localStorage.getItem(kPrefix + key);
        return text === null ? otherwise : JSON.parse(text);
    } catch {
        return otherwise;
    }
}

export function remember(key, value) {
    try {
        localStorage.setItem(kPrefix + key, JSON.stringify(value));
    } catch {
        // The storage is full or forbidden: the page works without it.
    }
}
