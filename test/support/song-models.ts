import { readFileSync } from 'node:fs';

/** A JSON body, as a client sends it. */
export type Body = Readonly<Record<string, unknown>>;

/** The rule of the table for a field of a model. */
export interface FieldRow {
  readonly model: string;
  readonly field: string;
  readonly type: string;
  /** Smallest value, length or count; the words of an enum. */
  readonly low: string;
  readonly high: string;
  /** Fields that have to be sent with it; null removes one. */
  readonly with: Body;
}

/** A body, and what the gateway does with it. */
export interface Trial {
  readonly body: Body;
  /** The field that is refused; undefined when the body is accepted. */
  readonly param?: string;
}

const TABLE = readFileSync(new URL('../samples/song-models.tsv', import.meta.url), 'utf8');
const ROWS: readonly FieldRow[] = TABLE.trim()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [model = '', field = '', type = '', low = '', high = '', json = ''] = line.split('\t');
    return { model, field, type, low, high, with: JSON.parse(json || '{}') as Body };
  });

/** The smallest body of every model. */
export const LEAST_BODIES: ReadonlyMap<string, Body> = new Map(
  ROWS.filter(({ field }) => field === '*').map((row) => [
    row.model,
    { model: row.model, ...row.with },
  ]),
);

/** Every field of every model. */
export const FIELD_ROWS = ROWS.filter(({ field }) => field !== '*');

/** The fields that other models have and this one lacks, each with a valid value. */
export function foreignFields(model: string): readonly (readonly [string, unknown])[] {
  const own = new Set(FIELD_ROWS.filter((row) => row.model === model).map(({ field }) => field));
  const foreign = new Map(
    FIELD_ROWS.filter(({ field }) => !own.has(field)).map((row) => [row.field, accepted(row)[0]]),
  );
  return [...foreign];
}

/** The field at both limits, and one step beyond each. */
export function trialsOf(row: FieldRow): readonly Trial[] {
  const base = { ...LEAST_BODIES.get(row.model), ...row.with };
  const trial = (value: unknown): Body =>
    row.type === 'custom' && value === false
      ? { ...LEAST_BODIES.get(row.model), custom: false }
      : { ...base, [row.field]: value };
  return [
    ...accepted(row).map((value) => ({ body: trial(value) })),
    ...refused(row).map((value) => ({ body: trial(value), param: row.field })),
    ...(row.type === 'start'
      ? [{ body: trial(Number(row.high) + 0.01), param: row.field.replace('start', 'end') }]
      : []),
  ];
}

function accepted({ type, low, high }: FieldRow): readonly unknown[] {
  const counts = [Number(low), Number(high)];
  switch (type) {
    case 'text':
      return counts.map((length) => '€'.repeat(length));
    case 'enum':
      return low.split('|');
    case 'url':
      return ['https://example.com/a.mp3'];
    case 'urls':
      return counts.map(urls);
    case 'formats':
      return [['mp3'], ['wav', 'm4a', 'mp3']];
    case 'ids':
      return [['task_1', 'task_2']];
    case 'indexes':
      return [
        [1, 1],
        [2, 8],
      ];
    case 'bool':
    case 'custom':
      return [true, false];
    default:
      return counts;
  }
}

function refused(row: FieldRow): readonly unknown[] {
  const [least, most] = [Number(row.low), Number(row.high)];
  return REFUSED[row.type]?.(least, most, row.low) ?? [least - 0.01, most + 0.01, 'a number'];
}

const REFUSED: Readonly<
  Record<string, (least: number, most: number, words: string) => readonly unknown[]>
> = {
  text: (_least, most) => ['€'.repeat(most + 1), '', 7],
  enum: (_least, _most, words) => ['none-such', `${words}!`, 1],
  url: () => ['', 5, urls(1)],
  urls: (least, most) => [urls(least - 1), urls(most + 1), 'https://example.com/a.mp3', [1]],
  formats: () => [[], ['mp3', 'mp3'], ['mp3', 'm4a', 'wav', 'ogg'], ['flac'], 'mp3'],
  ids: () => [[], ['task_1'], ['task_1', 'task_2', 'task_3'], [1, 2], 'task_1'],
  indexes: () => [[1], [1, 2, 3], [0, 1], [1, 9], [1, 1.5], '1,1'],
  bool: () => ['true', 1, 0],
  custom: () => ['true', 1, 0],
  int: (least, most) => [least - 1, most + 1, least + 0.5, String(least)],
  start: (least) => [least - 0.01, 3_600.01, 1.001, 1e-7, String(least)],
};

function urls(count: number): readonly string[] {
  return Array.from({ length: count }, (_value, index) => `https://example.com/${index}.mp3`);
}
