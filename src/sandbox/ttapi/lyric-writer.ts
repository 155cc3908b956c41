import { hashText, seededRandom } from '../media/seeded-random.js';

const RHYMES = [
  ['the morning light', 'hold on tight', 'the edge of night', 'out of sight'],
  ['along the way', 'what you say', 'another day', 'here to stay'],
  ['the open sea', 'come with me', 'wild and free', 'the tallest tree'],
];
const OPENINGS = ['We follow', 'I remember', 'You whisper to', 'They are calling for'];
const STYLES = [
  'warm',
  'gentle drums',
  'wide strings',
  'slow build',
  'bright chorus',
  'soft piano',
];
const MAX_TITLE_WORDS = 4;

/** Lyrics as a provider writes them. */
export interface LyricSheet {
  readonly title: string;
  readonly text: string;
  readonly tags: string;
}

/** A verse and a chorus about an idea. The same idea always gives the same words. */
export function writeLyrics(idea: string, variant = 1): LyricSheet {
  const random = seededRandom(hashText(`${idea} ${variant}`));
  const pick = <Item>(items: readonly Item[]): Item =>
    items[Math.floor(random() * items.length)] as Item;
  const verse = (): string =>
    pick(RHYMES)
      .map((end) => `${pick(OPENINGS)} ${end}`)
      .join('\n');
  const title = titleOf(idea);
  return {
    title,
    text: `[Verse]\n${verse()}\n\n[Chorus]\n${title}\n${verse()}`,
    tags: [pick(STYLES), pick(STYLES)].join(', '),
  };
}

/** The first words of a text. */
export function titleOf(idea: string): string {
  const words = idea.split(/\s+/).filter((word) => word !== '');
  const title = words.slice(0, MAX_TITLE_WORDS).join(' ').slice(0, 80);
  return title === '' ? 'Untitled' : title;
}

/** Adds more tags to the tags of a style. */
export function moreTags(tags: string): string {
  return [tags, ...STYLES.filter((style) => !tags.includes(style)).slice(0, 3)].join(', ');
}
