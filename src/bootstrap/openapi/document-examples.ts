import { readFileSync } from 'node:fs';
import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './document-bodies.js';

const JSON_TYPE = 'application/json';

/**
 * Adds to each response of JSON the written example of its operation. Examples made from schemas have every field filled in,
 * which shows states that do not exist: a queued task with a result.
 */
export function addResponseExamples(document: OpenAPIObject): void {
  const file = new URL('response-examples.json', import.meta.url);
  const examples = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, object>>;
  for (const { operationId = '', responses } of operationsOf(document))
    for (const [status, answer] of Object.entries(responses)) {
      const media = answer && 'content' in answer ? answer.content?.[JSON_TYPE] : undefined;
      const isWritten = media?.example !== undefined || media?.examples !== undefined;
      const example = examples[operationId];
      if (media && status.startsWith('2') && !isWritten && example) media.example = example;
    }
}
