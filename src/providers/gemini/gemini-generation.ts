import type { Conversation, AnswerFormat } from '../ports/conversation.js';
import { seedOf } from './generate-content.js';
import { thinkingConfigOf } from './gemini-thinking.js';

const JSON_TYPE = 'application/json';

/** `generationConfig` with the output cap, which includes thoughts. */
export function generationConfigOf(
  { settings, responseFormat }: Conversation,
  maxTokens: number,
  upstreamModel: string,
): object {
  return {
    temperature: settings.temperature,
    topP: settings.topP,
    topK: settings.topK,
    stopSequences: settings.stop?.length ? settings.stop : undefined,
    seed: seedOf(settings.seed),
    presencePenalty: settings.presencePenalty,
    frequencyPenalty: settings.frequencyPenalty,
    thinkingConfig: thinkingConfigOf(settings, upstreamModel),
    ...formatFields(responseFormat),
    maxOutputTokens: maxTokens,
  };
}

function formatFields(format: AnswerFormat | undefined): object {
  switch (format?.type) {
    case 'json_schema':
      return { responseMimeType: JSON_TYPE, responseJsonSchema: format.schema };
    case 'json_object':
      return { responseMimeType: JSON_TYPE };
    case 'text':
    case undefined:
      return {};
  }
}
