/** Control and format characters and line separators, which a terminal could execute or reorder. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text for a terminal: characters that it could execute are shown as their code, except those in `kept`. */
export function printableText(text: string, kept = ''): string {
  return text.replace(CONTROL, (character) =>
    kept.includes(character) ? character : character.split('').map(escaped).join(''),
  );
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
