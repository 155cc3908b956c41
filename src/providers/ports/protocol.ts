/** A wire protocol that an adapter folder speaks. */
export type Protocol = 'openai' | 'elevenlabs' | 'ttapi' | 'openai-video';
