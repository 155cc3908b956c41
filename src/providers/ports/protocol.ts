/** The wire protocols; a folder of adapters, `src/providers/<protocol>/`, speaks each. */
export const PROTOCOLS = ['openai', 'elevenlabs', 'ttapi', 'openai-video'] as const;

export type Protocol = (typeof PROTOCOLS)[number];
