/// <reference lib="es2024.string" />

/** Rules of a text; lengths count Unicode code points (decision G-36). */
export interface TextRule {
  readonly min?: number;
  readonly max: number;
  /** Whether text that is empty or white space only is allowed; by default it is rejected. */
  readonly blank?: 'allowed' | 'refused';
  /** `speech`: of the control characters only LF and CR may appear (decision G-33). U+0000 may appear nowhere. */
  readonly controls?: 'speech' | 'nul-only';
}

const NOT_WHITE_SPACE = /\P{White_Space}/u;
const CONTROL_BUT_NEWLINE = /[^\P{Cc}\n\r]/u;

/** The number of code points of the text, before any normalisation (decision G-36). */
export function codePointCount(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at++) {
    if (isSurrogate(text, at - 1, 0xd800) && isSurrogate(text, at, 0xdc00)) count--;
  }
  return count;
}

function isSurrogate(text: string, at: number, half: 0xd800 | 0xdc00): boolean {
  return (text.charCodeAt(at) & 0xfc00) === half;
}

/** Whether the text is empty or white space only. */
export function isBlank(text: string): boolean {
  return !NOT_WHITE_SPACE.test(text);
}

/**
 * The error of a value that has to be a text, as the end of a sentence (`must be a string`); undefined if it is valid.
 * Unpaired surrogates are always rejected (decision G-03).
 */
export function textFault(value: unknown, rule: TextRule): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (!value.isWellFormed()) return 'must be well-formed Unicode';
  if (rule.blank !== 'allowed' && isBlank(value)) return 'must not be blank';
  if (rule.controls === 'speech' && CONTROL_BUT_NEWLINE.test(value)) {
    return 'must not contain control characters other than line breaks';
  }
  if (value.includes('\0')) return 'must not contain U+0000';
  return lengthFault(value, rule);
}

// A text has at most as many code points as UTF-16 units and at least half as many: they are counted only if that does
// not decide.
function lengthFault(text: string, { min = 0, max }: TextRule): string | undefined {
  const units = text.length;
  if (units > max && (units > 2 * max || codePointCount(text) > max)) {
    return `must have at most ${max} characters`;
  }
  if (units < min || (units < 2 * min && codePointCount(text) < min)) {
    return `must have at least ${min} characters`;
  }
  return undefined;
}

/** Control and format characters and line separators, which a terminal could execute or reorder. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text for a terminal: characters that it could execute are shown as their code, except those in `kept`. */
export function printableText(text: string, kept = ''): string {
  return text.replace(CONTROL, (character) =>
    kept.includes(character) ? character : character.split('').map(escaped).join(''),
  );
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
