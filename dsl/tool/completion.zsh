#compdef sinter
# zsh completion for sinter(1)

_sinter_argument='*--arg=[what a name stands for]:NAME=FILE.npy, NAME=NUMBER or NAME\: TYPE[SHAPE]:_files'
_sinter_device='--device=[where to evaluate]:device:(cpu cuda cuda\:0 cuda\:1)'
_sinter_function='*--function=[a function in C that expressions call]:float f(float x) { return ...; }:'
_sinter_size='*--size=[the value of a symbolic size]:NAME=NUMBER:'
_sinter_help=('(- *)'{-h,--help}'[show the help]')

_sinter() {
  local line state
  _arguments -C '(- *)'{-h,--help}'[show the help]' '(- *)--version[show the version]' '1:command:->command' '*::argument:->argument'
  case $state in
    command)
      local commands=(
        'run:evaluate an expression' 'export:write C that computes an expression' 'explain:show the plan of an expression'
        'bench:measure fused against eager evaluation' 'cache:manage compiled kernels' 'devices:list the devices')
      _describe command commands
      ;;
    argument)
      case $line[1] in
        run)
          _arguments "$_sinter_argument" "$_sinter_function" "$_sinter_device" '(-o --output)'{-o,--output=}'[write the result to this file]:file:_files -g "*.npy"' \
            $_sinter_help '1:expression:'
          ;;
        export)
          _arguments '*--arg=[the type of an argument]:NAME\: TYPE:' "$_sinter_function" '--name=[the name of the kernel and the files]:name:' \
            '--prefix=[a prefix for the names of all functions]:prefix:' \
            '--arch=[GPUs to compile for]:architectures:_values -s , architecture none 75 80 86 89 90 100 120' \
            '--ptx=[include PTX for newer GPUs]:switch:(on off)' '--format=[which files]:format:(source header fatbin)' \
            '--dlpack[add functions that take DLPack tensors]' \
            '--extra=[additional files]:files:_values -s , file cu json hpp ptx dot' \
            '--strided=[arguments that have strides]:names:' '--variants=[kernels for all sizes and layouts, or one]:variants:(all one)' \
            '--in-place[allow the result to be the same array as an argument]' \
            '(-o --output)'{-o,--output=}'[the folder to write to]:folder:_files -/' $_sinter_help '1:expression:'
          ;;
        explain)
          _arguments "$_sinter_argument" "$_sinter_size" "$_sinter_function" "$_sinter_device" '--cuda[show the CUDA source of the kernels]' \
            '--hip[show their HIP source]' '--ptx=[show the PTX for an architecture]:architecture:(sm_80 sm_90 sm_100 sm_120)' \
            '--dot[show the graph in the DOT language]' '--html=[write everything as a page]:file:_files -g "*.html"' \
            $_sinter_help '1:expression:'
          ;;
        bench)
          _arguments "$_sinter_argument" "$_sinter_size" "$_sinter_function" "$_sinter_device" '--repeat=[evaluations of each kind]:number:' \
            $_sinter_help '1:expression:'
          ;;
        cache)
          _arguments '--delete[verify\: delete damaged kernels]' $_sinter_help '1:action:(stats clear verify pack unpack)' '2:file:_files'
          ;;
        devices) _arguments $_sinter_help ;;
      esac
      ;;
  esac
}

_sinter "$@"
