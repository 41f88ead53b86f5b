# What zsh offers for the words given, a match a line; the last word is being typed.
# Usage: zsh -f offers.zsh FOLDER WORD…   FOLDER holds the completion, _tfc. A real zsh
# on a terminal of its own is given a tab; its compadd tells what it is asked to add.
zmodload zsh/zpty || exit 77
zpty shell zsh -f -i
tell() { zpty -w shell "$1" }
tell "PROMPT= PS2= RPROMPT=; fpath=(${(q)1} \$fpath); cd ${(q)PWD}"
tell 'autoload -Uz compinit; compinit -u -D; zstyle ":completion:*" insert-tab false'
tell 'LISTMAX=0; unsetopt beep; setopt norcexpandparam; bindkey "^I" complete-word'
tell 'compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi
  local -a hits; builtin compadd -A hits "$@"
  local hit; for hit in $hits; do print -r -- "offer:$hit" >>$OFFERS; done
  builtin compadd "$@" }'
tell 'finish() { : >$OFFERS.done }; comppostfuncs=(finish)'
shift
offers=$(mktemp)
trap 'rm -f $offers $offers.done' EXIT
tell "OFFERS=${(q)offers}"
zpty -n -w shell "$*"$'\t'
while (( SECONDS < 60 )); do
  zpty -r -t shell line && continue
  [[ -e $offers.done ]] && break
  sleep 0.05
done
zpty -d shell
sed -n 's/^offer://p' $offers | sort -u
