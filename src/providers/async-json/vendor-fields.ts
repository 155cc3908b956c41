/** The operations that the file of a vendor may describe, each file one; the first where it names none. */
export const VENDOR_OPERATIONS = ['video', 'image', 'composition'] as const;
export type VendorOperation = (typeof VENDOR_OPERATIONS)[number];

/** The fields of each operation that a body may name. `reference` is our own name of the job. */
export const ASKED_FIELDS = {
  video: [
    'model',
    'prompt',
    'seconds',
    'size',
    'resolution',
    'aspect_ratio',
    'audio',
    'first_frame_url',
    'last_frame_url',
    'image_urls',
    'reference',
  ],
  image: [
    'model',
    'prompt',
    'size',
    'width',
    'height',
    'count',
    'quality',
    'background',
    'output_format',
    'output_compression',
  ],
  composition: ['model', 'prompt', 'lyrics', 'instrumental', 'seconds'],
} as const satisfies Record<VendorOperation, readonly string[]>;
type AskedField = (typeof ASKED_FIELDS)[VendorOperation][number];

/** Those of all operations, each once. */
export const ALL_FIELDS: readonly AskedField[] = [...new Set(Object.values(ASKED_FIELDS).flat())];
/** Of these, the ones by which a variant may be chosen: the reference is always there. */
export const choosingFields = (fields: readonly AskedField[]): readonly AskedField[] =>
  fields.filter((field) => field !== 'reference');
/** Those of videos with one value, by which a job may be known; the reference is looked up in another way. */
export const SCALAR_FIELDS = choosingFields(ASKED_FIELDS.video).filter(
  (field) => field !== 'image_urls',
);
/** Those that only a caller sets: any two of them may exclude each other. */
export const OPTIONAL_FIELDS = [
  'size',
  'aspect_ratio',
  'first_frame_url',
  'last_frame_url',
  'image_urls',
] as const satisfies readonly AskedField[];
/** A field, or `item`, which is the entry of a list and stands within `$each` only. */
export type VendorField = AskedField | 'item';
