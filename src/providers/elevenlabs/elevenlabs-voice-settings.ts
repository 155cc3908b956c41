/** How a voice speaks. */
interface VoiceStyle {
  readonly stability?: number | undefined;
  readonly similarityBoost?: number | undefined;
  readonly style?: number | undefined;
  readonly useSpeakerBoost?: boolean | undefined;
  readonly speed?: number | undefined;
}

/** The wire object `voice_settings`; undefined when nothing is set, so that the stored settings of the voice apply. */
export function voiceSettings(style: VoiceStyle): object | undefined {
  const settings = {
    stability: style.stability,
    similarity_boost: style.similarityBoost,
    style: style.style,
    use_speaker_boost: style.useSpeakerBoost,
    speed: style.speed,
  };
  return Object.values(settings).some((value) => value !== undefined) ? settings : undefined;
}
