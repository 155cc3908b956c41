import assert from 'node:assert/strict';
import { OpenAI, OpenAIEmbedding } from '@llamaindex/openai';
import { Document, Settings, VectorStoreIndex } from 'llamaindex';
import * as samples from './samples.js';

/** LlamaIndex: an index of texts by embeddings, and a model that answers from what the index finds. */
export const llamaindex = {
  name: 'llamaindex',
  operations({ baseURL, apiKey }) {
    const access = { baseURL, apiKey, maxRetries: 0 };
    const llm = new OpenAI({ ...access, model: samples.CHAT_MODEL });
    const messages = [{ role: 'user', content: samples.SAY_HELLO }];
    Settings.llm = llm;
    Settings.embedModel = new OpenAIEmbedding({ ...access, model: samples.EMBEDDING_MODEL });
    return {
      async chat() {
        samples.saysHello((await llm.chat({ messages })).message.content);
      },
      async stream() {
        let text = '';
        for await (const piece of await llm.chat({ messages, stream: true })) text += piece.delta;
        samples.saysHello(text);
      },
      async 'index with embeddings, query'() {
        const documents = samples.TEXTS.map((text) => new Document({ text }));
        const index = await VectorStoreIndex.fromDocuments(documents);
        const engine = index.asQueryEngine({ similarityTopK: 2 });
        const { message, sourceNodes } = await engine.query({ query: 'Where is the lighthouse?' });
        assert.ok(message.content.length > 0);
        const found = sourceNodes.map(({ node }) => node.text).sort();
        assert.deepEqual(found, samples.TEXTS.slice(0, 2).sort());
      },
    };
  },
};
