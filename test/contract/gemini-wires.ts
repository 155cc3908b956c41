import type { JsonObject } from '../../src/common/json-object.js';

/** Answers as Google's public reference of `GenerateContentResponse` and its guides on thinking and functions show them. */

/** `usageMetadata` of a prompt of 200 tokens, of which 128 were cached, and 20 more of a tool. */
export const USAGE = {
  promptTokenCount: 200,
  cachedContentTokenCount: 128,
  candidatesTokenCount: 12,
  thoughtsTokenCount: 30,
  toolUsePromptTokenCount: 20,
  totalTokenCount: 262,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 142 },
    { modality: 'IMAGE', tokenCount: 58 },
  ],
};
/** What it means: thoughts are beside the candidates, the tool's prompt is input, what was cached is in the prompt. */
export const COUNTED = {
  promptTokens: 220,
  completionTokens: 42,
  cachedTokens: 128,
  reasoningTokens: 30,
  imageTokens: 58,
};

export const SIGNATURE = 'CpcCAdHtim8vT3pL';

interface Said {
  readonly parts: readonly object[];
  readonly finishReason?: string;
  readonly usage?: object;
}

/** One event, or a whole answer. */
export function said({ parts, finishReason, usage }: Said): JsonObject {
  return {
    candidates: [
      {
        content: { parts, role: 'model' },
        ...(finishReason !== undefined && { finishReason }),
        index: 0,
      },
    ],
    ...(usage !== undefined && { usageMetadata: usage }),
    modelVersion: 'upstream-model',
    responseId: 'mAitaLmkHPPlz7IP',
  };
}

/** The events of a stream; it ends with the connection, without a mark. */
export function eventBytes(events: readonly object[]): Buffer {
  return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join(''));
}

/** A stream that thinks, says something, and calls two functions at once. */
export const EVENTS: readonly JsonObject[] = [
  said({ parts: [{ text: '**Looking', thought: true }], usage: { promptTokenCount: 200 } }),
  said({ parts: [{ text: ' it up**', thought: true }] }),
  said({ parts: [{ text: 'Hé ' }] }),
  said({ parts: [{ text: '👋' }] }),
  said({
    parts: [
      {
        functionCall: { name: 'get_weather', args: { city: 'Graz' } },
        thoughtSignature: SIGNATURE,
      },
      { functionCall: { id: 'fc-2', name: 'get_weather', args: { city: 'Linz' } } },
    ],
  }),
  said({ parts: [{ text: '' }], finishReason: 'STOP', usage: USAGE }),
];
