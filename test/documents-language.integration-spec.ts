import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = ['docs/guides', 'docs/operate', 'docs/reference', 'docs/reference/api'];
const GLOSSARY = 'docs/reference/glossary.md';
/** Words of a sentence, at most: a reader whose second language is English keeps so many in mind. */
const MAX_WORDS = 32;
/** Not read from the beginning to the end, but looked up: a sentence lists what a rule covers, each with its reference. */
const LOOKED_UP = ['docs/reference/decisions.md', 'docs/reference/provider-quirks.md'];
/** Vendors' words; and pages of the API but their first, which links the glossary for all of them. */
const NOT_LINKING = /provider-quirks\.md$|\/api\/(?!README)/;
/** The ids of requirements and decisions behind what they prove: (SPEECH-04, G-10). */
const REFERENCES = / ?\((?=[^()]*\b(?:G|[A-Z]{2,})-\d)[^()]*\)/g;
const FENCED = /^( *)```[^]*?^ *```/gm;
/** A link to a file or a heading of the repository. */
const LINK = /\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g;
/** The end of a sentence, with what may close after it. */
const SENTENCE_END = /(?<=[.?!](?:\*\*|\)|")?) (?=\S)/;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const pagesOf = (folder: string): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file));
const proseOf = (path: string): string =>
  read(path)
    .replace(FENCED, '\n\n')
    .replace(/^ *\|.*$/gm, '\n')
    .replace(/^#+ .*$/gm, '\n')
    .replace(REFERENCES, '')
    .replace(/`[^`]*`/g, 'code')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');

/** The sentences of paragraphs and of items of lists. */
function sentencesOf(path: string): string[] {
  return proseOf(path)
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .map((block) => block.replace(/\s+/g, ' ').trim())
    .flatMap((block) => block.replace(/^(?:[-*]|\d+\.) /, '').split(SENTENCE_END));
}

const lengthOf = (sentence: string): number =>
  sentence.split(' ').filter((word) => /\w/.test(word)).length;
/** The anchors that the headings of a page have. */
const anchorsOf = (path: string): ReadonlySet<string> =>
  new Set(
    [
      ...read(path)
        .replace(FENCED, '')
        .matchAll(/^#+ (.+)$/gm),
    ].map(([, heading = '']) =>
      heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

describe('the language of the pages', () => {
  const pages = FOLDERS.flatMap(pagesOf);
  const headings = [...read(GLOSSARY).matchAll(/^### (.+)$/gm)].map(([, heading = '']) => heading);

  it('has sentences of at most 32 words', () => {
    const told = pages.filter((page) => !LOOKED_UP.includes(page));
    const long = told.flatMap((page) =>
      sentencesOf(page)
        .filter((sentence) => lengthOf(sentence) > MAX_WORDS)
        .map((sentence) => `${page}: ${sentence}`),
    );
    expect(told.length).toBeGreaterThan(20);
    expect(long).toEqual([]);
  });

  it('is explained by a glossary that every page with one of its words links', () => {
    const words = headings.flatMap((heading) => heading.toLowerCase().split(', '));
    const used = new RegExp(`\\b(${words.join('|')}|held|settlement)(s|d|ed)?\\b`, 'i');
    const readers = [...pages, ...pagesOf('docs/architecture')].filter(
      (page) => page !== GLOSSARY && !NOT_LINKING.test(page),
    );
    expect(words.length).toBeGreaterThan(30);
    const unlinked = readers.filter(
      (page) => used.test(proseOf(page)) && !read(page).includes('glossary.md'),
    );
    expect(unlinked).toEqual([]);
  });

  it('has its glossary in alphabetical order', () => {
    expect(headings).toEqual([...headings].sort());
  });

  it('links files and headings that exist', () => {
    const folders = ['docs/architecture', 'docs/architecture/adr', 'docs/notes', '.'];
    const links = [...pages, ...folders.flatMap(pagesOf)].flatMap((page) =>
      [...read(page).matchAll(LINK)].map(([, path = '', anchor]) => ({
        page,
        target: path === '' ? page : join(dirname(page), path),
        anchor,
      })),
    );
    const lost = links.filter(
      ({ target, anchor }) =>
        !existsSync(join(ROOT, target)) ||
        (anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor)),
    );
    expect(links.length).toBeGreaterThan(300);
    expect(lost).toEqual([]);
  });
});
