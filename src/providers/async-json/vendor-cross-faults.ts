import {
  operationOf,
  type VendorErrors,
  type VendorFile,
  type VendorLookup,
} from './vendor-file.js';
import { modelFaults } from './vendor-models.js';
import { fieldsIn } from './vendor-template.js';

/** What of a file fits alone, and not together: the check of its shape has passed. */
export function crossFaults(file: VendorFile): string[] {
  const { submit, read, result, auth, errors, key_env: keyVariable } = file;
  const faults: string[] = [];
  if (auth.in === 'jwt' && keyVariable === '') faults.push('key_env: jwt needs a key');
  faults.push(...readFaults(file));
  faults.push(...variantFaults(submit, read));
  if (!read.states.failed && read.failed_if === undefined) {
    faults.push('read.states.failed: is required without read.failed_if');
  }
  faults.push(...repeatedWords('read.states', read.states));
  faults.push(...repeatedWords('errors.codes', errors?.codes ?? {}));
  faults.push(...repeatedWords('errors.messages', errors?.messages ?? {}));
  faults.push(...errorFaults(errors));
  faults.push(...requestFaults(result.request, submit.read_url !== undefined));
  const isOfTasks = operationOf(file) === 'video';
  faults.push(...(isOfTasks ? lookupFaults(file) : awaitedFaults(file)));
  faults.push(...endFaults(file), ...modelFaults(file));
  return faults;
}

/** What only tasks do: a call waits for its job here, and fetches what it made without the key. */
function awaitedFaults(file: VendorFile): string[] {
  const operation = operationOf(file);
  const only = {
    lookup: file.lookup,
    delete: file.delete,
    'result.with_key': file.result.with_key,
  };
  return Object.entries(only).flatMap(([at, value]) =>
    value === undefined ? [] : [`${at}: does not fit operation ${operation}`],
  );
}

/** A job is read by its id, or at the URL that the vendor gives. */
function readFaults({ submit, read }: VendorFile): string[] {
  const faults: string[] = [];
  const isGiven = submit.read_url !== undefined;
  if (isGiven === (submit.id !== undefined)) {
    faults.push('submit.id: either id or read_url is required');
  }
  if (isGiven === (read.path !== undefined)) {
    faults.push(`read.path: ${isGiven ? 'does not fit' : 'is required without'} submit.read_url`);
  } else if (!isGiven && !read.path?.includes('{id}')) faults.push('read.path: must hold {id}');
  return faults;
}

/** What stops and deletes a job names it, as what reads it does. */
function endFaults({ submit, read, cancel, delete: removal }: VendorFile): string[] {
  const isEither = (cancel?.path === undefined) !== (cancel?.given === undefined);
  const isGiven = submit.read_url !== undefined;
  const paths = {
    'cancel.path': isEither ? cancel?.path : undefined,
    'delete.path': removal?.path,
  };
  const faults = Object.entries(paths).flatMap(([at, path]) => {
    if (path === undefined) return [];
    if (isGiven) return [`${at}: does not fit submit.read_url`];
    return [
      ...(path.includes('{id}') ? [] : [`${at}: must hold {id}`]),
      ...variantPathFaults(at, path, read),
    ];
  });
  return cancel && !isEither
    ? ['cancel.path: either path or given is required', ...faults]
    : faults;
}

/** A job whose path has no variant does not remember it. */
function variantPathFaults(at: string, path: string, { path: readPath }: VendorFile['read']) {
  const isUnknown = path.includes('{variant}') && !readPath?.includes('{variant}');
  return isUnknown ? [`${at}: {variant} goes with {variant} in read.path`] : [];
}

/** A job is found only by what was sent with it. */
function lookupFaults({ submit, lookup, read }: VendorFile): string[] {
  if (!lookup) return [];
  const isNamed = lookup.path.includes('{reference}');
  return [
    ...(lookup.reference === undefined ? timeFaults(lookup) : nameFaults(lookup, submit)),
    ...variantPathFaults('lookup.path', lookup.path, read),
    ...listFaults(lookup, isNamed),
    ...(submit.id === undefined ? ['lookup: goes with submit.id'] : []),
  ];
}

function nameFaults(lookup: VendorLookup, { body, variants = [] }: VendorFile['submit']): string[] {
  const { path, items, made_at: time, same } = lookup;
  const bodies = [body, ...variants.flatMap((one) => one.body ?? [])];
  const isSent = bodies.every((one) => fieldsIn(one).includes('reference'));
  const isNamed = path.includes('{reference}') || items !== undefined;
  return [
    ...(isNamed ? [] : ['lookup.path: must hold {reference}']),
    ...(isSent ? [] : ['lookup: {{reference}} must be in every body of submit']),
    ...(time === undefined ? [] : ['lookup.made_at: does not fit lookup.reference']),
    ...(same === undefined ? [] : ['lookup.same: does not fit lookup.reference']),
  ];
}

/** The time alone, or a field that many jobs share, would find the job of another. */
function timeFaults({ path, items, made_at: time, same }: VendorLookup): string[] {
  if (time === undefined && same === undefined) {
    return ['lookup.reference: either reference, or made_at and same, is required'];
  }
  const hasPrompt = same === undefined || fieldsIn(same).includes('prompt');
  return [
    ...(time === undefined ? ['lookup.made_at: is required by lookup.same'] : []),
    ...(same === undefined ? ['lookup.same: is required by lookup.made_at'] : []),
    ...(hasPrompt ? [] : ['lookup.same: must hold {{prompt}}']),
    ...(items === undefined ? ['lookup.items: is required by lookup.made_at'] : []),
    ...(path.includes('{reference}')
      ? ['lookup.path: {reference} goes with lookup.reference']
      : []),
  ];
}

/** Only of a list that can be whole it counts what is missing. */
function listFaults({ items, more, absent_when_missing: counts }: VendorLookup, isNamed: boolean) {
  if (items === undefined) {
    return [
      ...(more === undefined ? [] : ['lookup.more: goes with lookup.items']),
      ...(counts === true ? ['lookup.absent_when_missing: goes with lookup.items'] : []),
    ];
  }
  return counts === true && more === undefined && !isNamed
    ? ['lookup.absent_when_missing: needs lookup.more, or {reference} in lookup.path']
    : [];
}

/** Each job remembers its variant where its path needs it. */
function variantFaults(
  { variant, variants = [] }: VendorFile['submit'],
  { path }: VendorFile['read'],
): string[] {
  const isNeeded = path?.includes('{variant}') ?? false;
  const missing = (name: string | undefined, at: string): string[] =>
    isNeeded && name === undefined ? [`${at}variant: is required by {variant} in read.path`] : [];
  return [
    ...missing(variant, 'submit.'),
    ...variants.flatMap((one, index) => [
      ...missing(one.variant, `submit.variants.${index}.`),
      ...((one.models ?? one.has)
        ? []
        : [`submit.variants.${index}: either models or has is required`]),
    ]),
  ];
}

/** A status tells by itself whether it is an error; only who may come again is told when. */
function errorFaults({ in_body: places = [], messages = {} }: VendorErrors = {}): string[] {
  const timed: readonly string[] = ['rate_limited', 'unavailable'];
  return [
    ...places.flatMap(({ ok, is_status: isStatus }, index) =>
      isStatus === true && ok ? [`errors.in_body.${index}.ok: does not fit is_status`] : [],
    ),
    ...Object.entries(messages).flatMap(([kind, forms]) =>
      !timed.includes(kind) && forms.some((form) => form.includes('{seconds}'))
        ? [`errors.messages.${kind}: {seconds} goes with rate_limited and unavailable`]
        : [],
    ),
  ];
}

function repeatedWords(at: string, lists: Readonly<Record<string, readonly string[]>>): string[] {
  const seen = new Set<string>();
  return Object.entries(lists).flatMap(([name, words]) =>
    words.flatMap((word) => {
      if (seen.has(word)) return [`${at}.${name}: ${word} is listed twice`];
      seen.add(word);
      return [];
    }),
  );
}

function requestFaults(request: VendorFile['result']['request'], isGiven: boolean): string[] {
  if (!request) return [];
  const { path, value, given } = request;
  if ((path === undefined) === (given === undefined)) {
    return ['result.request.path: either path or given is required'];
  }
  const usesValue = path?.includes('{value}') ?? false;
  if (usesValue !== (value !== undefined)) {
    return ['result.request.value: goes with {value} in the path'];
  }
  const usesId = path?.includes('{id}') ?? false;
  return usesId && isGiven ? ['result.request.path: {id} does not fit submit.read_url'] : [];
}
