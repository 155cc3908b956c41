/** What may be wrong with a file: the path, the value there, and the line that names it. */
export type VendorMistake = readonly [path: string, value: unknown, fault: string];

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
    'lookup.reference: is required',
  ],
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
