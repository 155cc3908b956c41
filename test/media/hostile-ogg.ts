import { endsOf, edited, sample } from './byte-edits.js';
import { hostile, type HostileCase } from './hostile-case.js';
import { opusPages, type WrittenPage, readPages, writePages } from './ogg-file.js';

const SECOND = 48_000;
const EOS = 4;

/** The sample with changed pages and right checksums. */
function repaged(
  name: string,
  change: (pages: WrittenPage[]) => WrittenPage[] | undefined,
): Buffer {
  const pages = readPages(sample(name));
  return writePages(change(pages) ?? pages);
}

function renumbered(pages: WrittenPage[], serial: number): WrittenPage[] {
  return pages.map((page) => ({ ...page, serial }));
}

const setLast = (granule: bigint) => (pages: WrittenPage[]) => {
  const last = pages.at(-1);
  if (last !== undefined) last.granule = granule;
  return pages;
};
const setAll = (granule: (index: number) => bigint) => (pages: WrittenPage[]) => {
  pages.forEach((page, index) => {
    if (page.granule > 0n) page.granule = granule(index);
  });
  return pages;
};

const BOTH = [
  { codec: 'Opus', name: 'opus.ogg', second: 48_000n },
  { codec: 'Vorbis', name: 'tone.ogg', second: 16_000n },
].flatMap(({ codec, name, second }) => [
  hostile(`${codec} whose last position says 1 s`, 'refused', () => repaged(name, setLast(second))),
  hostile(`${codec} whose positions are all tiny`, 'refused', () =>
    repaged(
      name,
      setAll((index) => BigInt(index)),
    ),
  ),
  hostile(`${codec} whose positions are all -1`, 'refused', () =>
    repaged(
      name,
      setAll(() => -1n),
    ),
  ),
  hostile(`${codec} whose last position is huge`, 'refused', () =>
    repaged(name, setLast(2n ** 50n)),
  ),
  hostile(`${codec} without an end`, 13, () =>
    repaged(name, (pages) => {
      for (const page of pages) page.flags &= ~EOS;
      return pages;
    }),
  ),
  hostile(`${codec} of 12.34 s twice in a chain`, 25, () => {
    const pages = readPages(sample(name));
    return writePages([...pages, ...renumbered(pages, 77)]);
  }),
  hostile(`${codec} of 12.34 s twice in a chain of one serial`, 25, () => {
    const pages = readPages(sample(name));
    return writePages([...pages, ...pages]);
  }),
]);

/** Ogg files of 12.34 s with false positions, chains and mixtures (decision G-44). */
export const HOSTILE_OGG: readonly HostileCase[] = [
  ...BOTH,
  hostile('a chain of 1 s and 12.34 s', 14, () =>
    writePages([...opusPages(SECOND, 5), ...readPages(sample('opus.ogg'))]),
  ),
  hostile('a chain of 12.34 s and 1 s', 14, () =>
    writePages([...readPages(sample('opus.ogg')), ...opusPages(SECOND, 5)]),
  ),
  hostile('a stream of 1 s beside one of 12.34 s', 13, () => {
    const short = opusPages(SECOND, 5);
    const long = renumbered(readPages(sample('opus.ogg')), 6);
    return writePages([
      ...short.slice(0, 1),
      ...long.slice(0, 1),
      ...short.slice(1),
      ...long.slice(1),
    ]);
  }),
  hostile('pages hidden under a false page', 13, () => {
    const pages = readPages(sample('opus.ogg'));
    const cover = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(22), Buffer.alloc(256, 0xff)]);
    return Buffer.concat([writePages(pages.slice(0, 3)), cover, writePages(pages.slice(3))]);
  }),
  hostile('nothing but false pages', 'refused', () => {
    const cover = Buffer.concat([Buffer.from('OggS'), Buffer.alloc(22), Buffer.alloc(256, 0xff)]);
    return Buffer.concat(new Array<Buffer>(100_000).fill(cover));
  }),
  hostile('a stream that begins nowhere', 'refused', () =>
    repaged('opus.ogg', (pages) => pages.slice(2)),
  ),
  hostile('an unknown codec beside a known one', 'refused', () => {
    const pages = readPages(sample('opus.ogg'));
    const unknown = {
      ...opusPages(SECOND, 9)[0]!,
      body: Buffer.from('Speex   1.2'),
      lacing: Buffer.from([11]),
    };
    return writePages([pages[0]!, unknown, ...pages.slice(1)]);
  }),
  hostile('an Opus header that is cut off', 'refused', () =>
    repaged('opus.ogg', ([first, ...rest]) => [
      { ...first!, body: first!.body.subarray(0, 9), lacing: Buffer.from([9]) },
      ...rest,
    ]),
  ),
  hostile('FLAC in Ogg whose header total says 1 s', 13, () => {
    const bytes = sample('flac.ogg');
    return writePages(
      readPages(
        edited(bytes, (copy) => {
          const [end] = endsOf(bytes, 'fLaC');
          if (end !== undefined) copy.writeUInt32BE(8_000, end + 18);
        }),
      ),
    );
  }),
];
