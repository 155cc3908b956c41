/** Callers resumed in one turn of the event loop. */
const PER_TURN = 8;

/**
 * Resumes callers a few in each turn of the event loop. A statement's answer may concern a hundred of them; were all resumed
 * at once, their work would keep the next answer unread and the next requests waiting, and all calls would move in step.
 */
export class Resumptions {
  readonly #due: (() => void)[] = [];

  /** Calls `resume` soon, after those added before. */
  add(resume: () => void): void {
    this.#due.push(resume);
    if (this.#due.length === 1) setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    for (const resume of this.#due.splice(0, PER_TURN)) resume();
    if (this.#due.length > 0) setImmediate(this.#turn);
  };
}
