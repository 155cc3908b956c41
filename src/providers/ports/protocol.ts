/** A wire protocol; one folder of adapters speaks it. */
export type Protocol = 'openai' | 'elevenlabs' | 'ttapi' | 'openai-video';
