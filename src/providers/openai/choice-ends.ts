import type { JsonObject } from '../../common/json-object.js';
import { isReason } from '../ports/finish-reason.js';

/** Maximum number of choices that are distinguished; requests allow only one. */
const MAX_CHOICES = 31;

/** Which choices of a stream have begun and which have a finish reason (decision G-24). One bit for each. */
export class ChoiceEnds {
  private begun = 0;
  private ended = 0;

  /** Whether there was any choice. */
  get haveBegun(): boolean {
    return this.begun !== 0;
  }

  /** Whether every choice that has begun has a finish reason. */
  get haveEnded(): boolean {
    return this.begun !== 0 && this.ended === this.begun;
  }

  /** Records the choices of one chunk. Returns whether one of them has content or a finish reason. */
  record(choices: readonly JsonObject[]): boolean {
    let says = false;
    for (const [place, { index, delta, finish_reason: reason }] of choices.entries()) {
      const bit = 1 << Math.min(isIndex(index) ? index : place, MAX_CHOICES - 1);
      const hasReason = isReason(reason);
      this.begun |= bit;
      if (hasReason) this.ended |= bit;
      says ||= hasReason || (this.haveEnded && saysSomething(delta));
    }
    return says;
  }
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function saysSomething(delta: unknown): boolean {
  if (typeof delta !== 'object' || delta === null) return false;
  return Object.entries(delta).some(
    ([name, value]) => name !== 'role' && value !== null && value !== '',
  );
}
