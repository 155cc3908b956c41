import type { JsonObject } from '../../common/json-object.js';
import { isReason } from '../ports/finish-reason.js';

/** Choices are told apart up to this many; one is all that is sold. */
const MAX_CHOICES = 31;

/** Which choices of a stream have begun and which have their reason to end (decision G-24). One bit for each. */
export class ChoiceEnds {
  private begun = 0;
  private ended = 0;

  /** Whether there was any choice. */
  get haveBegun(): boolean {
    return this.begun !== 0;
  }

  /** Whether every choice that has begun has its reason. */
  get haveEnded(): boolean {
    return this.begun !== 0 && this.ended === this.begun;
  }

  /** Takes the choices of one chunk. Tells whether one of them says something or has a reason. */
  take(choices: readonly JsonObject[]): boolean {
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
