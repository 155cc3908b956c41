import { hashText } from '../seeded-random.js';

/**
 * How one written character sounds: resonances in Hz, the amplitudes of voice and noise, and its length relative to
 * other characters.
 */
export interface Phone {
  readonly first: number;
  readonly second: number;
  readonly voice: number;
  readonly noise: number;
  readonly length: number;
}

const phone = (
  first: number,
  second: number,
  voice: number,
  noise: number,
  length: number,
): Phone => ({ first, second, voice, noise, length });

const SPACE = phone(400, 1200, 0, 0, 0.7);
const PAUSE = phone(400, 1200, 0, 0, 3);
const VOWELS: readonly Phone[] = [
  phone(730, 1090, 1, 0, 1.3),
  phone(530, 1840, 1, 0, 1.3),
  phone(300, 2290, 0.9, 0, 1.2),
  phone(570, 840, 1, 0, 1.3),
  phone(320, 870, 0.9, 0, 1.2),
];
const VOICED = phone(280, 1200, 0.45, 0.03, 0.8);
const NASAL = phone(260, 1000, 0.5, 0, 0.9);
const HISS = phone(3200, 5200, 0, 0.55, 1);
const BREATH = phone(900, 2400, 0, 0.3, 0.9);
const BURST = phone(1500, 2800, 0, 0.4, 0.6);

const byLetter = new Map<string, Phone>([
  ...Array.from('aeiou').map((letter, index) => [letter, VOWELS[index] ?? VOICED] as const),
  ...Array.from('bdgvjwrl', (letter) => [letter, VOICED] as const),
  ...Array.from('mn', (letter) => [letter, NASAL] as const),
  ...Array.from('szxc', (letter) => [letter, HISS] as const),
  ...Array.from('fh', (letter) => [letter, BREATH] as const),
  ...Array.from('ptkq', (letter) => [letter, BURST] as const),
  ['y', VOWELS[2] ?? VOICED],
]);

/**
 * The phone of a character. An accented letter sounds as its base letter; a character of another script always has the
 * same phone.
 */
export function phoneOf(character: string): Phone {
  const letter = character.normalize('NFD').charAt(0).toLowerCase();
  const known = byLetter.get(letter);
  if (known !== undefined) return known;
  if (/\s/u.test(character)) return SPACE;
  if (/[.,;:!?。、！？…]/u.test(character)) return PAUSE;
  if (!/[\p{L}\p{N}]/u.test(character)) return SPACE;
  const hash = hashText(character);
  return hash % 2 === 0 ? (VOWELS[hash % VOWELS.length] ?? VOICED) : VOICED;
}
