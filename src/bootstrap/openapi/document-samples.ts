import type { OpenAPIObject } from '@nestjs/swagger';
import { ADMIN_SCHEME } from '../../admin/operator-endpoint.decorator.js';
import { API_KEY_SCHEME } from '../../auth/api-key-auth.decorator.js';
import { METRICS_SCHEME } from '../../platform/observability/metrics.controller.js';
import { type SampledCall, samplesOf } from './code-samples.js';
import { type DocumentedOperation, METHODS } from './document-bodies.js';
import { pathIdOf } from './document-parameters.js';

/** Where the samples of the committed document find the gateway. A gateway replaces it by its own URL. */
export const SAMPLE_GATEWAY_URL = 'http://127.0.0.1:3000';

/** The environment variable from which the samples take the key or token of a scheme. */
const SECRETS: Readonly<Record<string, string>> = {
  [API_KEY_SCHEME]: 'KEY',
  [ADMIN_SCHEME]: 'ADMIN_TOKEN',
  [METRICS_SCHEME]: 'METRICS_TOKEN',
};
/** Values of required headers, by name. */
const HEADERS: Readonly<Record<string, string>> = { 'Idempotency-Key': 'invoice-17' };
const ENDINGS: Readonly<Record<string, string>> = { 'audio/mpeg': 'mp3', 'video/mp4': 'mp4' };

/** Files of the caller's own, which the forms of some operations cannot do without. */
const FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/v1/images/edits': { image: 'picture.png' },
};

/** Adds the samples of each operation, made from the first written example of its body. */
export function addCodeSamples(document: OpenAPIObject): void {
  for (const [path, item] of Object.entries(document.paths))
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation) continue;
      const samples = samplesOf(callOf(path, method, operation));
      Object.assign(operation, { 'x-codeSamples': samples });
    }
}

function callOf(path: string, method: string, operation: DocumentedOperation): SampledCall {
  const [scheme = ''] = Object.keys(operation.security?.[0] ?? {});
  const [sent = path] = path.split('#');
  const filled = sent.replaceAll(/\{(\w+)\}/g, (_, name: string) => pathIdOf(path, name).example);
  const names = requiredOf(operation, 'header').map(({ name }) => name);
  const query = new URLSearchParams(
    requiredOf(operation, 'query').map(({ name, schema }): [string, string] => [
      name,
      exampleOf(schema),
    ]),
  );
  return {
    method: method.toUpperCase(),
    url: `${SAMPLE_GATEWAY_URL}${filled}${query.size > 0 ? `?${query.toString()}` : ''}`,
    secret: SECRETS[scheme],
    headers: Object.fromEntries(names.map((name) => [name, HEADERS[name] ?? ''])),
    body: bodyOf(operation, FILES[path]),
    answer: answerOf(path, operation),
  };
}

function requiredOf({ parameters = [] }: DocumentedOperation, place: 'header' | 'query') {
  return parameters.flatMap((row) =>
    'in' in row && row.in === place && row.required === true ? [row] : [],
  );
}

/** The example of a required parameter of a query. */
function exampleOf(schema: object | undefined): string {
  return schema && 'example' in schema ? String(schema.example) : '';
}

function bodyOf(
  { requestBody }: DocumentedOperation,
  files: Readonly<Record<string, string>> | undefined,
): SampledCall['body'] {
  if (!requestBody || !('content' in requestBody)) return undefined;
  const { 'application/json': json, 'multipart/form-data': form } = requestBody.content;
  const [example] = Object.values((json ?? form)?.examples ?? {});
  const fields = example && 'value' in example ? (example.value as object) : {};
  return { kind: json ? 'json' : 'form', fields, ...(files && { files }) };
}

function answerOf(path: string, { responses }: DocumentedOperation): SampledCall['answer'] {
  const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const content = answer && 'content' in answer ? answer.content : undefined;
  const [type] = Object.keys(content ?? {});
  if (type === undefined) return 'none';
  if (type === 'application/json') return 'json';
  if (type.startsWith('text/')) return 'text';
  const name = path.split('/').at(-1) ?? 'answer';
  return { file: `${name}.${ENDINGS[type] ?? 'bin'}` };
}
