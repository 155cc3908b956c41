import type { Vendor } from '../vendors.js';

const HEAD = { modelVersion: 'v', responseId: 'mAitaLmkHPPlz7IP' };
const usageMetadata = { promptTokenCount: 20, candidatesTokenCount: 9, totalTokenCount: 29 };
const says = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 20, totalTokenCount: 20 },
  ...HEAD,
});
const event = (answer: object) => `data: ${JSON.stringify(answer)}\r\n\r\n`;
const call = {
  functionCall: { id: 'k3x9', name: 'get_weather', args: { city: 'Riga' } },
  thoughtSignature: 'CpcCAdHtim8=',
};

/** Gemini's `generateContent`. Its stream has no mark of the end: the last event has the reason and the usage. */
export const GEMINI: Vendor = {
  name: 'gemini',
  protocol: 'gemini',
  basePath: '/v1beta',
  events: [
    event(says([{ text: 'Let me ' }])),
    event(says([{ text: 'look.' }])),
    event(says([call])),
    event({ ...says([{ text: '' }], { finishReason: 'STOP' }), usageMetadata }),
  ],
  wholeAfter: 4,
  whole: {
    ...says([{ text: 'Let me look.' }, call], { finishReason: 'STOP' }),
    usageMetadata,
  },
};
