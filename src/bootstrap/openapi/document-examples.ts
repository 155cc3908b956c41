import { readFileSync } from 'node:fs';
import type { OpenAPIObject } from '@nestjs/swagger';
import { type DocumentedOperation, operationsOf } from './document-bodies.js';

const JSON_TYPE = 'application/json';

/**
 * Adds to each response of JSON the written example of its operation. Examples made from schemas have every field filled in,
 * which shows states that do not exist: a queued task with a result.
 */
export function addResponseExamples(document: OpenAPIObject): void {
  const file = new URL('response-examples.json', import.meta.url);
  const examples = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, object>>;
  for (const operation of operationsOf(document)) {
    const example = examples[operation.operationId ?? ''];
    if (example === undefined) continue;
    for (const media of successesOf(operation)) {
      if (media.example === undefined && media.examples === undefined) media.example = example;
    }
  }
}

/** What an operation answers in JSON when it succeeds. */
function successesOf({ responses }: DocumentedOperation) {
  return Object.entries(responses).flatMap(([status, response]) => {
    if (!status.startsWith('2') || !response || '$ref' in response) return [];
    const media = response.content?.[JSON_TYPE];
    return media ? [media] : [];
  });
}
