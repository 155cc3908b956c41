import { readFileSync } from 'node:fs';
import Ajv from 'ajv/dist/2020.js';

const {
  paths,
  components,
  'x-respond-async': taskOfCall,
} = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'));

/** Headers of HTTP itself and of every server; the others are the gateway's own and are in the document. */
const GENERAL_HEADERS = new Set([
  'accept-ranges',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'allow',
  'cache-control',
  'connection',
  'content-disposition',
  'content-length',
  'content-range',
  'content-security-policy',
  'content-type',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'date',
  'etag',
  'keep-alive',
  'last-modified',
  'origin-agent-cluster',
  'referrer-policy',
  'strict-transport-security',
  'transfer-encoding',
  'vary',
  'www-authenticate',
  'x-accel-buffering',
  'x-content-type-options',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-frame-options',
  'x-permitted-cross-domain-policies',
  'x-xss-protection',
]);
/** Of one body; the alternatives of a schema fail all at once. */
const MAX_FAULTS = 6;
const EVENT = /^data: (.*)$/gm;
const LAST_EVENT = '[DONE]';

/** The operations, each with the pattern of its paths; those without parameters first. */
const OPERATIONS = Object.entries(paths)
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses, 'x-respond-async': becomesTask }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: new RegExp(`^${path.split('#', 1)[0].replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      responses: becomesTask ? { ...responses, 202: taskOfCall } : responses,
    })),
  )
  .sort((one, other) => one.name.split('{').length - other.name.split('{').length);

const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema({ $id: 'document', $defs: definitions() });
/** By the media type of the document: what checks a value of it. */
const validators = new WeakMap();

/**
 * How an answer of a gateway differs from `openapi.json`, a sentence for each way; none for a path that the document does
 * not have. Of a path with several operations, that counts which has the content type of the answer.
 */
export function answerFaults(answer) {
  const method = answer.method === 'HEAD' ? 'GET' : answer.method;
  const named = OPERATIONS.filter((one) => one.method === method && one.path.test(answer.path));
  const literal = named
    .filter(({ name }) => name.includes('{') === named[0].name.includes('{'))
    .map(({ name, responses }) => ({ name, described: resolved(responses[answer.status]) }));
  const type = typeOf(answer);
  const one = literal.find(({ described }) => described?.content?.[type]) ?? literal[0];
  if (one === undefined) return [];
  return faultsIn(answer, one.described).map((fault) => `${one.name} ${answer.status}: ${fault}`);
}

function faultsIn(answer, described) {
  if (described === undefined) return ['the status is not described'];
  return [...headerFaults(answer.headers, described.headers), ...bodyFaults(answer, described)];
}

function headerFaults(headers, described = {}) {
  const known = new Set(Object.keys(described).map((name) => name.toLowerCase()));
  const unknown = Object.keys(headers).filter(
    (name) => !GENERAL_HEADERS.has(name) && !known.has(name),
  );
  const missing = Object.entries(described).filter(
    ([name, header]) => resolved(header).required && !Object.hasOwn(headers, name.toLowerCase()),
  );
  return [
    ...unknown.map((name) => `the header ${name} is not described`),
    ...missing.map(([name]) => `the header ${name} is missing`),
  ];
}

const typeOf = ({ headers }) => String(headers['content-type'] ?? '').split(';', 1)[0];

/** A part of a body fits no schema. */
const isHeld = ({ body, status }, type) =>
  body !== undefined && status !== 206 && /json|event-stream/.test(type);

function bodyFaults(answer, { content = {}, 'x-other-types': others }) {
  const { method, body } = answer;
  const type = typeOf(answer);
  if (method === 'HEAD' || (body === '' && Object.keys(content).length === 0)) return [];
  if (others?.includes(type)) return [];
  const media = content[type];
  if (media?.schema === undefined) return [`the type ${type || 'of the body'} is not described`];
  if (!isHeld(answer, type)) return [];
  return faultsOfValues(type, body, media);
}

function faultsOfValues(type, body, media) {
  const values =
    type === 'application/json' ? [body] : [...body.matchAll(EVENT)].map(([, of]) => of);
  return values
    .filter((text) => text !== LAST_EVENT)
    .map((text) => JSON.parse(text))
    .flatMap((value) => [...valueFaults(value, media), ...codeFaults(value, media.examples)]);
}

function codeFaults({ error }, examples) {
  if (error?.code === undefined || examples === undefined) return [];
  return Object.hasOwn(examples, error.code) ? [] : [`the code ${error.code} is not described`];
}

function valueFaults(value, media) {
  const known = validators.get(media);
  const validate = known ?? ajv.compile(closed(media.schema));
  if (!known) validators.set(media, validate);
  if (validate(value)) return [];
  return validate.errors.slice(0, MAX_FAULTS).map(({ instancePath, message, params }) => {
    const place = instancePath.replaceAll(/\/\d+/g, '/0');
    const extra = params.unevaluatedProperty ?? params.allowedValues ?? '';
    return `${place || 'the body'} ${message} ${extra}`.trim();
  });
}

/** The part, after following a reference to a response or header of the document. */
function resolved(part) {
  const [, , group, name] = part?.$ref?.split('/') ?? [];
  return name ? components[group][name] : part;
}

function definitions() {
  const schemas = Object.entries(components.schemas);
  return Object.fromEntries(
    schemas.flatMap(([name, schema]) => [
      [name, closed(schema)],
      [`${name}.part`, closed(schema, true)],
    ]),
  );
}

/**
 * The schema as JSON Schema, in which an object has no fields but those that are named. Of the parts of `allOf` (`isPart`), each
 * has fields of the others beside it.
 */
function closed(schema, isPart = false) {
  const { nullable, $ref, allOf, oneOf, anyOf, items, properties, ...others } = schema;
  const isOpen = others.additionalProperties !== undefined;
  if (typeof others.additionalProperties === 'object')
    others.additionalProperties = closed(others.additionalProperties);
  delete others.discriminator;
  const made = {
    ...others,
    ...closedParts({ $ref, allOf, oneOf, anyOf }, isPart),
    ...(items && { items: closed(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, closed(field)]),
      ),
    }),
    ...((properties || allOf) && !isPart && !isOpen && { unevaluatedProperties: false }),
  };
  return nullable ? { anyOf: [{ type: 'null' }, made] } : made;
}

function closedParts({ $ref, allOf, oneOf, anyOf }, isPart) {
  return {
    ...($ref && { $ref: `document#/$defs/${$ref.split('/').at(-1)}${isPart ? '.part' : ''}` }),
    ...(allOf && { allOf: allOf.map((part) => closed(part, true)) }),
    ...(oneOf && { oneOf: oneOf.map((one) => closed(one, isPart)) }),
    ...(anyOf && { anyOf: anyOf.map((one) => closed(one, isPart)) }),
  };
}
