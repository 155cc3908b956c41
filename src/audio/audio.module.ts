import { Module } from '@nestjs/common';
import { ExecutionsModule } from '../billing/calls/executions.module.js';
import { MediaModule } from '../media/media.module.js';
import { AlignmentController } from './alignment/alignment.controller.js';
import { AlignmentService } from './alignment/alignment.service.js';
import { DialogueController } from './dialogue/dialogue.controller.js';
import { DialogueService } from './dialogue/dialogue.service.js';
import { IsolationController } from './isolation/isolation.controller.js';
import { IsolationService } from './isolation/isolation.service.js';
import { MusicCompositionController } from './music-composition/music-composition.controller.js';
import { MusicCompositionService } from './music-composition/music-composition.service.js';
import { PaidAudio } from './paid-audio.js';
import { SoundEffectsController } from './sound-effects/sound-effects.controller.js';
import { SoundEffectsService } from './sound-effects/sound-effects.service.js';
import { SpeechController } from './speech/speech.controller.js';
import { SpeechService } from './speech/speech.service.js';
import { TranscriptionController } from './transcription/transcription.controller.js';
import { TranscriptionService } from './transcription/transcription.service.js';
import { VoiceChangerController } from './voice-changer/voice-changer.controller.js';
import { VoiceChangerService } from './voice-changer/voice-changer.service.js';
import { SizedWav } from './wav/sized-wav.js';

/** The synchronous audio endpoints. */
@Module({
  imports: [ExecutionsModule, MediaModule],
  controllers: [
    SpeechController,
    DialogueController,
    TranscriptionController,
    AlignmentController,
    VoiceChangerController,
    IsolationController,
    SoundEffectsController,
    MusicCompositionController,
  ],
  providers: [
    PaidAudio,
    SizedWav,
    SpeechService,
    DialogueService,
    TranscriptionService,
    AlignmentService,
    VoiceChangerService,
    IsolationService,
    SoundEffectsService,
    MusicCompositionService,
  ],
})
export class AudioModule {}
