import { useEffect, useState } from 'preact/hooks';

/** A value that parts of the page follow. */
export interface Signal<T> {
  readonly value: T;
  set(value: T): void;
  /** Calls back at each change; returns what ends that. */
  follow(listener: (value: T) => void): () => void;
}

/** A value of the whole page. */
export function signal<T>(first: T): Signal<T> {
  const listeners = new Set<(value: T) => void>();
  let value = first;
  return {
    get value() {
      return value;
    },
    set(next) {
      value = next;
      for (const listener of listeners) listener(next);
    },
    follow(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The present value of a signal. */
export function useSignalValue<T>(of: Signal<T>): T {
  const [value, setValue] = useState(of.value);
  useEffect(() => of.follow(setValue), [of]);
  return value;
}
