import { Module } from '@nestjs/common';
import { StatementAnswers } from './statement-answers.js';
import { Statements } from './statements.js';

/** Statements of months. Takes the DataSource from a global module. */
@Module({ providers: [Statements, StatementAnswers], exports: [StatementAnswers] })
export class StatementsModule {}
