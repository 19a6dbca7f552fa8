/** The symbols of callouts as PNG files, drawn by `tests/fixtures/generators/callout-symbols.ts`. */
import type { CalloutKind } from '#libs/rich-text';

/** A symbol in base64, and its size in twips. */
export type CalloutSymbol = { png: string; width: number; height: number };

/** The safety alert symbol of ANSI Z535, for a dark and for a light band. */
const WHITE_ALERT =
  'iVBORw0KGgoAAAANSUhEUgAAAEIAAAA8CAYAAADSfGxZAAAB/UlEQVR42u3Zb3GEMBAFcCQgIRKQEAlIiAQk4AAJSEBCJCAhEk7C3nSGTun0gPzZzW6Svhm+9MP15ge9vrzrAKBjvvRxsb6PTgDEflxNQxj4iWkVogcAd4Jwx8+ag5jhb+bWIL7u/OsDxIvrqeCCWOA6SysQCp6jWoDYPCC22iE0+EfXDGEDIGytECOEZ6wRwkVAuNogJojPVAvEVXnyTZaSxVWlQzOXDqESn4bzU6FKhlgBL2upEAPgZygRwhJA2NIgNNBFlwSxJ5wun06neykQJvGu+jxNRjpE71mlUyHQ902u8qQRPl9mqRAhVdok/mmhV+9cO2TI3Qyp5Is0CIV4dgg9myhJEBsjxCYFQiOfG1aOksVVpW3G18sCMRKcGWLPKCMnhBME4bggUnZIR4CbtG9y7ZBw89qpS1afEwJjh6SAiK7enDskFUTUvsm5QyqEhoq2b3LukJp42RooIWxBEJYKAnuH3I83e7525N+hKSCw32SO7NgQBsqNwYLoE9sed7z2zVzliTtzKkSPVJ58yxRWqQqu3pg7pGSIx30Tc4eUDnG7b2LukCVAbKEQmvjDiwvismTl/EpfCoT1hRiBPpwQH/dN7Kks5K7cXTlK1i3EBO1kuoKgKk9S86tk1Valo6s39g5Z4lOhzhArtJv1G2KA/wxdpn9X0mPfDo44mI/WI0gAAAAASUVORK5CYII=';
const BLACK_ALERT =
  'iVBORw0KGgoAAAANSUhEUgAAAEIAAAA8CAYAAADSfGxZAAAB2UlEQVR42u2YUbHDIBBFkRAJSIgEJERCJEQCDiIhEiIBCZGAhEpof2Amnde8QtgFdrfM3J/39eaUTg9HqfbHhIk/R5joMyulnmGzVAiDUsqfQPjwN3HHniDEWYm34fEBxEParVg/QIhbpUDQ/0CI0xJA7Akgdu4QTAKEONaS5TJAOK4QpgwIcRNHEP4GCM8NwnIDQtzCXZ5Sx0aybAEENuqtC2/D+VaQlqwNAELcRhXCCAghbuQuT2wlyyBAIKneR8Hr8tvrlEzfnAs/1ZTb1H3fHBJVuhRE933TAnzPDXXJylHpufCr1bV6r0DKnKPk3fVNDfh2yH2bdKXee0MQ3fRNA/xu2KhKlgNWZUdRvSeEN8PdN0rTvuk7AtGsb5Z0SI8At0nfHADK09V5UuqbEB0SA0RV9YbqkFggqvVNqA6pAQy1Wd8ckUuTodI3HSEQaJIF3SGP8M+ed1DomwdikMUaeN+cCUIA75tDoe21HljftIQhgEnWACRPqTIFJVXg6r0ifUK1QRT1TY14VVuAuN03d4Yg9tby1AuIbMlyjEEkq/dU4eesJYjkvllDntyX1ZAstA5JbUtteep1l5JlBUG4VG8t7DZc9s1NIIQ/fXMUDOGtb7ofCOVeQJ78PzLFSucAAAAASUVORK5CYII=';
const WHITE_INFORMATION =
  'iVBORw0KGgoAAAANSUhEUgAAADwAAAA8CAYAAAA6/NlyAAABkklEQVR42u2b4Y2EIBCFKYESKIVSLMES7MQSKIESKIUS3t0P9uJ5u6erzoC8fQmJya7CF4EZhxkDwAg1C8B/X08AAoAIIOOvcvktlP/6cq/IuK5+oAMwAkg4r1Se5VoE9uUNSSmUPqoD+zIdtRTPgp+ZugH1FI5O9SOww4vNR1u5jEUUeEZ7miWA7UU7r5TSXlPWA+xb0L3A7obeAr4T7BL6EPCM+2p+F3gQGMTWbLpaw15gJ2RntYHzM+fkWcdSHpQ28MMj+xfYC66rGsBY+97rTmOHwPEVsBfeOWsB/3rLGmu3BeCwBnYKttFvNGm5JfCI/jUugRMBcHoAW/DIGqX104q8KbFgDU0bTWUMRjEYV9Ms/ZgnoxhmbQE4GsUIZAvA2ShuGC0A4wP8Ae4QmG7TojNLdI7HRAQ8aX48tADsNT8PWwC2mgGA2sBJO8RTG3jUDuLVBnbUYVrKQDzdUQvlYRrdcSnlgThdygNlUgtl2hJlYhpd6iFlcill+jBtgjhlCQBlkQdtGQ9todZtSvG+AKjkEJGI+j4aAAAAAElFTkSuQmCC';

/** The symbols by kind. They are lower than a line of text. */
export const CALLOUT_SYMBOLS: Record<CalloutKind, CalloutSymbol> = {
  danger: { png: WHITE_ALERT, width: 176, height: 160 },
  warning: { png: BLACK_ALERT, width: 176, height: 160 },
  caution: { png: BLACK_ALERT, width: 176, height: 160 },
  note: { png: WHITE_INFORMATION, width: 160, height: 160 },
};
