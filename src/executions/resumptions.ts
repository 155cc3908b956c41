/** Callers that are resumed in one turn of the event loop. */
const PER_TURN = 8;

/**
 * Resumes a few callers in each turn of the event loop. One statement may answer a hundred callers. If all were resumed
 * at once, their work would delay the next answer and the next requests, and all calls would run in step.
 */
export class Resumptions {
  readonly #due: (() => void)[] = [];

  /** Calls `resume` soon, after the calls that were added before. */
  add(resume: () => void): void {
    this.#due.push(resume);
    if (this.#due.length === 1) setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    for (const resume of this.#due.splice(0, PER_TURN)) resume();
    if (this.#due.length > 0) setImmediate(this.#turn);
  };
}
