/** What may be wrong with a file: the path, the value there, and the line that names it. */
export type VendorMistake = readonly [path: string, value: unknown, fault: string];

const LISTED = { path: '/videos', items: 'data', id: 'id', absent: [] };
const PROMPT = { 'input.prompt': '{{prompt}}' };
const TIMED = { ...LISTED, made_at: 'created', same: PROMPT };

/** Mistakes in how jobs are looked up by their time. */
const TIME_MISTAKES: readonly VendorMistake[] = [
  ['lookup', { ...LISTED, same: PROMPT }, 'lookup.made_at: is required by lookup.same'],
  ['lookup', { ...LISTED, made_at: 'created' }, 'lookup.same: is required by lookup.made_at'],
  ['lookup', { ...TIMED, same: { model: '{{model}}' } }, 'lookup.same: must hold {{prompt}}'],
  [
    'lookup',
    { path: '/videos', id: 'id', absent: [], made_at: 'created', same: PROMPT },
    'lookup.items: is required by lookup.made_at',
  ],
  [
    'lookup',
    { ...TIMED, path: '/videos?own={reference}' },
    'lookup.path: {reference} goes with lookup.reference',
  ],
  [
    'lookup',
    { ...TIMED, made_at: 7 },
    'lookup.made_at: must be names of fields with dots between them',
  ],
  ['lookup', { ...TIMED, same: {} }, 'lookup.same: must be an object of 1 to 100 keys'],
  [
    'lookup',
    { ...TIMED, same: { ...PROMPT, own: '{{reference}}' } },
    'lookup.same.own: {{reference}}: must be one of model, prompt, seconds, size, resolution, aspect_ratio, audio, first_frame_url, last_frame_url',
  ],
  [
    'lookup',
    { ...TIMED, same: { ...PROMPT, 'input.image': { $inline: 'first_frame_url', as: 'base64' } } },
    'lookup.same.input.image: must be a text, or a value with a cast ({"$field": …})',
  ],
  [
    'lookup',
    { ...TIMED, same: { ...PROMPT, length: { $field: 'seconds', as: 'time' } } },
    'lookup.same.length.as: must be one of string, integer, number, boolean',
  ],
];

/** Mistakes in how jobs are looked up, stopped and deleted, and in what they cost. */
export const JOB_MISTAKES: readonly VendorMistake[] = [
  [
    'lookup',
    { path: '/videos/{reference}', id: 'id', reference: 'own', absent: ['404'] },
    'lookup: {{reference}} must be in every body of submit',
  ],
  [
    'lookup',
    { path: '/videos/{reference}', id: 'id', reference: 'own' },
    'lookup.absent: is required',
  ],
  [
    'lookup',
    { path: '/videos/{reference}', id: 'id', absent: ['404'] },
    'lookup.reference: either reference, or made_at and same, is required',
  ],
  ...TIME_MISTAKES,
  [
    'lookup',
    { path: '/videos', items: 'data', id: 'id', reference: 'own', absent: 'x' },
    'lookup.absent: must be a list of 0 to 100 entries',
  ],
  [
    'lookup',
    { path: '/videos/{reference}', items: 'data.', id: 'id', reference: 'own', absent: [] },
    'lookup.items: must be names of fields with dots between them',
  ],
  [
    'lookup',
    {
      ...{ path: '/videos/{reference}', items: 'data', id: 'id', reference: 'own', absent: [] },
      absent_when_missing: 'yes',
    },
    'lookup.absent_when_missing: must be true or false',
  ],
  ['cancel', { path: '/videos/{id}' }, 'cancel.method: is required'],
  [
    'cancel',
    { method: 'GET', path: '/videos/{id}' },
    'cancel.method: must be one of POST, PUT, DELETE',
  ],
  ['cancel', { method: 'POST' }, 'cancel.path: either path or given is required'],
  [
    'cancel',
    { method: 'POST', path: '/videos/{id}', given: 'url' },
    'cancel.path: either path or given is required',
  ],
  ['cancel', { method: 'POST', path: '/videos' }, 'cancel.path: must hold {id}'],
  [
    'cancel',
    { method: 'POST', path: '/{variant}/{id}' },
    'cancel.path: {variant} goes with {variant} in read.path',
  ],
  [
    'cancel',
    { method: 'POST', path: '/videos/{reference}' },
    'cancel.path: {reference} is none of {id}, {model}, {variant}',
  ],
  [
    'cancel',
    { method: 'POST', given: '/cancel' },
    'cancel.given: must be names of fields with dots between them',
  ],
  ['delete', { method: 'DELETE' }, 'delete.path: is required'],
  [
    'delete',
    { method: 'PATCH', path: '/videos/{id}' },
    'delete.method: must be one of POST, PUT, DELETE',
  ],
  ['delete', { method: 'DELETE', path: '/videos' }, 'delete.path: must hold {id}'],
  [
    'delete',
    { method: 'DELETE', path: '/{variant}/{id}' },
    'delete.path: {variant} goes with {variant} in read.path',
  ],
  ['delete', { method: 'DELETE', given: 'url', path: '/{id}' }, 'delete.given: is no known field'],
  ['cost', { path: 'cost', unit: 'eur' }, 'cost.unit: must be one of usd, unit'],
  ['cost', { unit: 'usd' }, 'cost.path: is required'],
  ['cost', { path: 'cost', unit: 'unit' }, 'cost.micro_usd_per_million_units: is required'],
  [
    'cost',
    { path: 'cost', unit: 'usd', micro_usd_per_million_units: 1 },
    'cost.micro_usd_per_million_units: is no known field',
  ],
  [
    'cost',
    { path: 'cost', unit: 'unit', micro_usd_per_million_units: 0 },
    'cost.micro_usd_per_million_units: must be a whole number above 0',
  ],
];
