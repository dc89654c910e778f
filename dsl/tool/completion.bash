# bash completion for sinter(1)
_sinter() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W 'run export explain bench cache devices --help --version' -- "$current")
    return
  fi
  case ${COMP_WORDS[1]}:$previous in
    cache:cache) options='stats clear verify pack unpack' ;;
    export:--ptx) options='on off' ;;
    export:--format) options='source header fatbin' ;;
    export:--variants) options='all one' ;;
    export:--extra) options='cu json hpp ptx dot' ;;
    export:--arch) options='none 75 80 86 89 90 100 120' ;;
    *:--device) options='cpu cuda cuda:0 cuda:1' ;;
    *:--arg | *:--output | *:--html | *:-o | *:=) return ;; # files, by complete's -o default
    *)
      [[ $current == -* ]] || return 0
      case ${COMP_WORDS[1]} in
        run) options='--arg --function --device --output -o --help' ;;
        export) options='--arg --function --name --prefix --arch --ptx --format --dlpack --extra --strided --variants --in-place --output -o --help' ;;
        explain) options='--arg --size --function --device --cuda --hip --ptx --dot --html --help' ;;
        bench) options='--arg --size --function --device --repeat --help' ;;
        cache) options='--delete --help' ;;
        devices) options='--help' ;;
      esac
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "${options:-}" -- "$current")
}
complete -o default -F _sinter sinter
