// What the page remembers over reloads, in the browser. Without storage (a private window), nothing is remembered.

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
        // Full or forbidden: the page works all the same.
    }
}
