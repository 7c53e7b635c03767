// Samples over time: the last minutes of a number. No DOM.

/// Keeps the samples of the last `seconds`, at most `limit` of them.
/// Layout: times[i] and values[i] are one sample, in chronological order.
export class Series {
    constructor(seconds, limit = 4096) {
        this.seconds = seconds;
        this.limit = limit;
        this.times = [];
        this.values = [];
    }

    /// `time` in seconds, not before the last one; an earlier one (the clock was set back) restarts the series.
    add(time, value) {
        const { times, values } = this;
        if (times.length > 0 && time < times[times.length - 1]) this.clear();
        this.times.push(time);
        this.values.push(value);
        let first = Math.max(0, this.times.length - this.limit);
        while (this.times[first] < time - this.seconds) ++first;
        if (first > 0) {
            this.times.splice(0, first);
            this.values.splice(0, first);
        }
    }

    clear() {
        this.times = [];
        this.values = [];
    }

    get length() {
        return this.times.length;
    }

    get last() {
        return this.values[this.values.length - 1];
    }

    /// {x, y} of the samples since `begin`, with x relative to `now`, for charts.
    points(begin, now) {
        const points = [];
        for (let i = this.first_since(begin); i < this.times.length; ++i) {
            points.push({ x: this.times[i] - now, y: this.values[i] });
        }
        return points;
    }

    /// {low, mean, high} of the samples since `begin`; null if there are none.
    summary(begin = -Infinity) {
        const first = this.first_since(begin);
        if (first === this.values.length) return null;
        let low = Infinity;
        let high = -Infinity;
        let sum = 0;
        for (let i = first; i < this.values.length; ++i) {
            low = Math.min(low, this.values[i]);
            high = Math.max(high, this.values[i]);
            sum += this.values[i];
        }
        return { low, mean: sum / (this.values.length - first), high };
    }

    first_since(begin) {
        let low = 0;
        let high = this.times.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.times[middle] < begin) low = middle + 1;
            else high = middle;
        }
        return low;
    }
}
