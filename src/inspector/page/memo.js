// Settings that the page keeps in the browser over reloads. Without storage (a private window), nothing is kept.

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
        // Full or forbidden: the page works without it.
    }
}
