// What the page's one polite live region says besides the notices: one sentence, the newest.
class Say {
  text: string = $state('')
}

export const say = new Say()
