import type { Vendor } from '../vendors.js';

const usageMetadata = {
  promptTokenCount: 20,
  candidatesTokenCount: 9,
  totalTokenCount: 29,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 20 }],
};
/** Before the end the counts are those so far. */
const usageSoFar = { promptTokenCount: 20, totalTokenCount: 20 };
const response = (candidate: object, usage: object) => ({
  candidates: [{ index: 0, ...candidate }],
  usageMetadata: usage,
  modelVersion: 'v-001',
  responseId: 'r1',
});
const event = (parts: readonly object[], end?: object) =>
  `data: ${JSON.stringify(
    response({ content: { parts, role: 'model' }, ...end }, end ? usageMetadata : usageSoFar),
  )}\r\n\r\n`;
const functionCall = { functionCall: { name: 'get_weather', args: { city: 'Riga' } } };
const SIGNATURE = Buffer.from('a thought of the vendor').toString('base64');

/** The model breaks a call off after a text: the vendor ends the answer, and has counted it. */
export const BROKEN_CALLS = ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'].map(
  (finishReason) => ({
    finishReason,
    events: [event([{ text: 'Let me ' }]), event([{ text: 'look.' }]), event([], { finishReason })],
  }),
);

/** Google's generateContent. */
export const GEMINI: Vendor = {
  name: 'gemini',
  protocol: 'gemini',
  basePath: '/v1beta',
  events: [
    event([{ text: 'Let me ' }]),
    event([{ text: 'look.' }]),
    event([{ ...functionCall, thoughtSignature: SIGNATURE }]),
    event([{ text: '' }], { finishReason: 'STOP' }),
  ],
  wholeAfter: 4,
  whole: response(
    {
      content: {
        parts: [{ text: 'Let me look.' }, { ...functionCall, thoughtSignature: SIGNATURE }],
        role: 'model',
      },
      finishReason: 'STOP',
    },
    usageMetadata,
  ),
};
