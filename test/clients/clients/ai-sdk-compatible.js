import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { embedMany, generateImage } from 'ai';
import * as samples from './samples.js';
import { chatOperations } from './vercel-chat.js';

/** The AI SDK with its provider for APIs like OpenAI's, with the two settings of docs/guides/clients.md. */
export const compatible = {
  name: '@ai-sdk/openai-compatible',
  operations(access) {
    const provider = createOpenAICompatible({
      name: 'shim',
      ...access,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
    return {
      ...chatOperations(provider(samples.CHAT_MODEL)),
      async embedMany() {
        const model = provider.embeddingModel(samples.EMBEDDING_MODEL);
        samples.areVectors((await embedMany({ model, values: samples.TEXTS })).embeddings);
      },
      async image() {
        const model = provider.imageModel(samples.IMAGE_MODEL);
        samples.isPng((await generateImage({ model, prompt: 'A boat' })).image.base64);
      },
    };
  },
};
