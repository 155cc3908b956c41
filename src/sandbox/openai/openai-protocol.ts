import { modelList, type SandboxProtocol, type SandboxRoute } from '../http/protocol.js';
import type { MediaShelf } from '../media/media-shelf.js';
import type { ChatLog } from '../chat/chat-log.js';
import { audioSpeech } from './audio-speech.js';
import { audioTranscriptions } from './audio-transcriptions.js';
import { chatCompletions } from './chat-completions.js';
import { embeddings } from './embeddings.js';
import { imageEdits, imageGenerations } from './image-generations.js';
import { openAiErrorBody } from './openai-errors.js';
import { Responses } from './responses.js';

/**
 * OpenAI: the key is a bearer token, requests are JSON, answers are JSON or server-sent events, errors are `{error}`.
 */
export function openAiProtocol(chats: ChatLog, shelf: MediaShelf): SandboxProtocol {
  const responses = new Responses(chats);
  return {
    prefix: '/openai',
    routes: [
      modelList('/v1/models', { object: 'list', data: [] }),
      {
        method: 'POST',
        path: '/v1/chat/completions',
        operation: 'chat_completions',
        handle: (exchange) => chatCompletions(exchange, chats),
      },
      {
        method: 'POST',
        path: '/v1/responses',
        operation: 'responses',
        handle: (exchange) => responses.answer(exchange),
      },
      {
        method: 'POST',
        path: '/v1/embeddings',
        operation: 'embeddings',
        handle: embeddings,
      },
      {
        method: 'POST',
        path: '/v1/audio/speech',
        operation: 'audio_speech',
        handle: audioSpeech,
      },
      {
        method: 'POST',
        path: '/v1/audio/transcriptions',
        operation: 'audio_transcriptions',
        handle: audioTranscriptions,
      },
      ...imageRoutes(shelf),
    ],
    keyOf: (exchange) => exchange.header('authorization')?.replace(/^Bearer\s+/i, ''),
    requestIdHeader: 'x-request-id',
    errorBody: openAiErrorBody,
  };
}

function imageRoutes(shelf: MediaShelf): SandboxRoute[] {
  return [
    {
      method: 'POST',
      path: '/v1/images/generations',
      operation: 'image_generations',
      handle: (exchange) => imageGenerations(exchange, shelf),
    },
    {
      method: 'POST',
      path: '/v1/images/edits',
      operation: 'image_edits',
      handle: (exchange) => imageEdits(exchange, shelf),
    },
  ];
}
